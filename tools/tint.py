"""Chromium's compiler, which also looks who may miss a barrier, on the WGSL of every kernel.

    GPULESSONS_GPU=webgpu python tools/tint.py

The kernels are those that `tools/any_gpu.py` launches. Prints what is refused and why; leaves with
1 where that is more than a limit of the adapter's (threads, arrays, shared memory).
"""

import importlib.util
import shutil
import sys

import any_gpu
from warplens import webgpu

FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update",
         "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]  # fmt: skip
LIMIT = "exceed", "limit"  # words of what an adapter has too little of
COMPILE = """async (texts) => {
    const adapter = navigator.gpu && await navigator.gpu.requestAdapter();
    if (!adapter) return null;
    const limits = {};
    for (const name in adapter.limits)
        if (/^maxCompute|^maxStorageBuffers/.test(name)) limits[name] = adapter.limits[name];
    const device = await adapter.requestDevice({requiredLimits: limits});
    const answers = [];
    for (const code of texts) {
        device.pushErrorScope("validation");
        const module = device.createShaderModule({code});
        const said = (await module.getCompilationInfo()).messages.filter(m => m.type == "error");
        let why = said.map(m => `line ${m.lineNum}: ${m.message}`).join("; ");
        const compute = {module, entryPoint: "main"};
        try { await device.createComputePipelineAsync({layout: "auto", compute}); }
        catch (trouble) { why = why || trouble.message; }
        await device.popErrorScope();
        answers.push(why);
    }
    return answers;
}"""


def missing():
    """Why it cannot be asked here; empty if it can."""
    if any_gpu.any_gpu() is None:
        return webgpu.why_not() or "there is CUDA here; GPULESSONS_GPU=webgpu takes WebGPU"
    if not shutil.which("chromium"):
        return "there is no chromium on the PATH"
    return "" if importlib.util.find_spec("playwright") else "playwright is not installed"


def modules():
    """Every module that the course's versions and exercises make."""
    from warplens.webgpu.launches import PIPELINES

    list(any_gpu.rows())
    return [module for module, _ in PIPELINES.values()]


def answers(texts):
    """What Chromium's compiler says of each, "" where it takes it; None without an adapter."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.route("**/*", lambda route: route.fulfill(body="<title>empty</title>"))
        page.goto("http://localhost/")  # where WebGPU is allowed
        found = page.evaluate(COMPILE, texts)
        browser.close()
    return found


def main():
    if why := missing():
        print(f"Chromium's compiler is not asked: {why}.")
        return 0
    found = modules()
    said = answers([module.text for module in found])
    if said is None:
        print("Chromium's compiler is not asked: it has no WebGPU adapter here.")
        return 0
    refused = [(module, why) for module, why in zip(found, said, strict=True) if why]
    for module, why in refused:
        print(f"{module.function.__name__} {module.block}: {why.splitlines()[0]}")
    print(f"{len(found) - len(refused)} of {len(found)} modules taken")
    return any(not any(word in why for word in LIMIT) for _, why in refused)


if __name__ == "__main__":
    sys.exit(main())
