import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Limits } from '../../contract.ts';
import { performBuild } from '../../host/compiler/guest-build.ts';
import type { GuestWorld } from './guest-isolate.ts';
import { PluginFolder } from './plugin-folder.ts';
import { SANDBOX_DIR } from './sandbox.ts';

/** A name, and the body of an async function that returns what is to be compared; `require` is in its scope. */
export type Cases = Readonly<Record<string, string>>;

/**
 * Turns any result into text, the same way on both sides. Plain JavaScript, because it is also a part of the plugin.
 */
export const SHOWN = `
const shown = (value, depth = 0) => {
  if (depth > 6) return '…';
  const each = (values) => [...values].map((one) => shown(one, depth + 1)).join(', ');
  if (typeof value === 'bigint') return value + 'n';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'function ' + value.name;
  if (typeof value === 'symbol' || typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (value instanceof Error) return value.name + '(' + (value.code ?? '') + '): ' + value.message;
  if (value instanceof Date) return 'Date ' + value.toISOString();
  if (value instanceof ArrayBuffer) return 'ArrayBuffer ' + Buffer.from(value).toString('hex');
  if (ArrayBuffer.isView(value)) return value.constructor.name + ' ' + Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  if (value instanceof Map) return 'Map {' + each(value) + '}';
  if (value instanceof Set) return 'Set {' + each(value) + '}';
  if (Array.isArray(value)) return '[' + each(value) + ']';
  return '{' + Object.keys(value).map((key) => key + ': ' + shown(value[key], depth + 1)).join(', ') + '}';
};
const outcome = async (attempt) => {
  try { return shown(await attempt()); } catch (error) { return 'threw ' + shown(error); }
};`;

/** Wide limits, because these tests do not compare speed. */
export const LIMITS: Partial<Limits> = {
  memory_mb: 256,
  slice_ms: 30_000,
  cpu_ms: 30_000,
  result_bytes: 4 * 1_048_576,
};

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (require: (name: string) => unknown) => Promise<Record<string, string>>;

function source(cases: Cases): string {
  const entries = Object.entries(cases).map(
    ([name, body]) => `  results[${JSON.stringify(name)}] = await outcome(async () => { ${body} });`,
  );
  return `${SHOWN}\nconst run = async () => {\n  const results = {};\n${entries.join('\n')}\n  return results;\n};`;
}

/** A plugin's script as the service compiles it. */
export async function compiled(text: string, file = 'tested.js', folder = new PluginFolder()): Promise<string> {
  try {
    folder.write(file, text);
    const modulesDir = join(SANDBOX_DIR, 'guest', 'modules');
    const job = { kind: 'plugin', root: folder.path, modulesDir, file: join(folder.path, file) } as const;
    const built = await performBuild(job, () => {});
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    return Buffer.from(built.code).toString();
  } finally {
    folder.remove();
  }
}

/** Runs the cases in a real isolate. */
async function inGuest(world: GuestWorld, cases: Cases): Promise<Record<string, string>> {
  const script = await compiled(`${source(cases)}\nmodule.exports = { handler: (context) => run() };`);
  const { outcome } = world.call(script, { limits: LIMITS });
  if (outcome?.kind !== 'returned') throw new Error(`did not return: ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.json) as Record<string, string>;
}

/** Runs the cases in this process, with Node's modules or the guest's. */
function here(cases: Cases, require: (name: string) => unknown): Promise<Record<string, string>> {
  return new AsyncFunction('require', `${source(cases)}\nreturn run();`)(require);
}

/**
 * Runs the cases in a plugin and in Node. Node's results are the expected ones.
 * @param ours the guest's modules made in this process, where coverage sees what the cases reach
 */
export async function compareWithNode(
  t: Test,
  world: GuestWorld,
  cases: Cases,
  ours?: (name: string) => unknown,
): Promise<void> {
  // One after the other, because all use OpenSSL in this thread, and OpenSSL keeps its errors per thread.
  const guest = await inGuest(world, cases);
  const node = await here(cases, createRequire(import.meta.url));
  const own = ours && (await here(cases, ours));
  for (const name of Object.keys(cases)) {
    t.equal(guest[name], node[name], name);
    if (own !== undefined) t.equal(own[name], node[name], `${name}, in this process`);
  }
}
