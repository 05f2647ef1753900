/** Measures the one-time costs of a plugin: its build, its first call, and the memory of its isolate. */
import { join } from 'node:path';
import { createCompiler } from '../../../sandbox/host/compiler/compiler.ts';
import { startService } from '../../support/service.ts';
import { entryOf, SAMPLES, samplesWorkspace } from './plugin-samples.ts';

export interface PluginCost {
  name: string;
  /** Median time of a build when the bundler already runs. */
  compileMs: number;
  /** Size of the bundle with its source map. */
  bundleBytes: number;
  /** From the request to the answer. Includes the start of a process or an isolate. */
  firstCallMs: number;
  /** Heap and buffers of the isolate after the first call. */
  isolateBytes: number;
}

const BUILDS = 3;

export async function benchPluginCosts(): Promise<PluginCost[]> {
  const workspace = await samplesWorkspace((sample) => [{ ...entryOf(sample), emit_usage: true }]);
  const root = join(workspace.dir, 'plugins');
  const compiler = createCompiler({ root, sandboxDir: join(import.meta.dirname, '..', '..', '..', 'sandbox') });
  const service = await startService(workspace.env);
  try {
    const costs: PluginCost[] = [];
    for (const { name, params = {} } of SAMPLES) {
      const took: number[] = [];
      let bundleBytes = 0;
      for (let build = 0; build <= BUILDS; build += 1) {
        const began = performance.now();
        const built = await compiler.compile(name, { file: join(root, `${name}.ts`), label: `${name}.ts` });
        if (!('bytes' in built)) throw new Error(`${name} does not compile: ${built.message}`);
        bundleBytes = built.bytes;
        took.push(performance.now() - began);
      }
      const began = performance.now();
      const { status, body } = await service.call(name, params);
      const firstCallMs = performance.now() - began;
      if (status !== 200) throw new Error(`${name} was answered ${status} ${JSON.stringify(body)}`);
      costs.push({
        name,
        compileMs: took.slice(1).sort((a, b) => a - b)[Math.floor(BUILDS / 2)] ?? Number.NaN,
        bundleBytes,
        firstCallMs,
        isolateBytes: body.metadata.usage.heap_bytes,
      });
    }
    return costs;
  } finally {
    await service.stop();
    await compiler.close();
    await workspace.remove();
  }
}
