import torch, torch.distributed as dist
from gpulessons.workers.training import examples, mean_loss, minibatches, network
dist.init_process_group("gloo")  # on GPUs "nccl", and model and data go .to(a GPU)
rank, world = dist.get_rank(), dist.get_world_size()
model = torch.nn.parallel.DistributedDataParallel(network(hidden=32, dtype=torch.float64))
optimizer = torch.optim.SGD(model.parameters(), 0.5)
(x, labels), _ = examples(torch.float64)
for chosen in minibatches(len(x), 64, 20):
    mine = chosen[rank::world]  # a DistributedSampler does this
    optimizer.zero_grad()
    mean_loss(model, x[mine], labels[mine]).backward()  # DDP averages over the workers
    optimizer.step()
print(f"{sum(p.sum().item() for p in model.parameters())}\n", end="")  # a line in one piece