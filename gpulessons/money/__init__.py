"""What throughput costs: prices are the learner's, never ours."""
