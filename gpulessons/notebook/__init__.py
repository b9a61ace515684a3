"""What a learner touches in a notebook (`controls`) and reads there (`source`)."""
