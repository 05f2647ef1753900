/**
 * Every way a plugin's author can get it wrong: the answer names cause and place, and the server goes on serving
 * everything else.
 */
import t from 'tap';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const HONEST = `export async function handler() { return 'honest'; }\n`;

/** Handlers by plugin id, and what their call has to answer. */
const CASES: Record<string, { source: string; status: number; code: string; error: RegExp }> = {
  'syntax-error': {
    source: `export async function handler() {\n  return 1 +;\n}\n`,
    status: 500,
    code: 'COMPILE_ERROR',
    error: /syntax-error\.ts:2:\d+.*Unexpected ";"/s,
  },
  'unresolved-import': {
    source: `import x from 'no-such-package';\nexport const handler = () => x;\n`,
    status: 500,
    code: 'COMPILE_ERROR',
    error: /unresolved-import\.ts:1:\d+.*no-such-package/s,
  },
  'no-handler': {
    source: `export const other = 1;\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /Plugin must export a handler function/,
  },
  'throws-while-loading': {
    source: `throw new Error('not today');\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /not today/,
  },
  'throws-error': {
    source: `export function handler() { throw new Error('broken inside'); }\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /^broken inside$/,
  },
  'throws-text': {
    source: `export function handler() { throw 'just text'; }\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /^just text$/,
  },
  'throws-undefined': {
    source: `export function handler() { throw undefined; }\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /^undefined$/,
  },
  'throws-a-function': {
    source: `export function handler() { throw function secret() {}; }\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /function/,
  },
  'throws-hostile-getters': {
    source: `export function handler() { throw { get message() { throw new Error('gotcha'); } }; }\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /./,
  },
  'throws-a-proxy': {
    source: `export function handler() {
      const trap = () => { throw new Error('trap'); };
      throw new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });
    }\n`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /./,
  },
  'type-error': {
    source: `export function handler() { return undefined.x; }\n`,
    status: 500,
    code: 'TYPE_ERROR',
    error: /undefined/,
  },
  'plugin-error': {
    source: `import { pluginError } from '@openzeppelin/relayer-sdk';
      export function handler() { throw pluginError('no amount', { code: 'VALIDATION_FAILED', status: 422, details: { field: 'amount' } }); }\n`,
    status: 422,
    code: 'VALIDATION_FAILED',
    error: /^no amount$/,
  },
  'returns-a-function': {
    source: `export function handler() { return () => 1; }\n`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /function/,
  },
  'returns-a-bigint': {
    source: `export function handler() { return { items: [{ price: 5n }] }; }\n`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /items\[0\]\.price.*BigInt/,
  },
  'returns-a-cycle': {
    source: `export function handler() { const a = {}; a.self = { a }; return a; }\n`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /self\.a/,
  },
  'returns-100-mb': {
    source: `export function handler() { return 'x'.repeat(100 * 1024 * 1024); }\n`,
    status: 500,
    code: 'RESULT_TOO_LARGE',
    error: /1048576/,
  },
  'never-ends': {
    source: `export function handler() { console.log('waiting'); return new Promise(() => {}); }\n`,
    status: 504,
    code: 'TIMEOUT',
    error: /^Plugin execution timed out after 1 seconds$/,
  },
};

t.test('a plugin that gets it wrong', async (t) => {
  const workspace = await createWorkspace({
    pluginFiles: {
      'honest.ts': HONEST,
      ...Object.fromEntries(Object.entries(CASES).map(([id, { source }]) => [`${id}.ts`, source])),
    },
    plugins: Object.keys(CASES).map((id) => ({ id, path: `${id}.ts`, timeout: 1, emit_logs: true })),
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());

  for (const [id, { status, code, error }] of Object.entries(CASES)) {
    const answer = await service.call(id);
    t.equal(answer.status, status, `${id}: status`);
    t.equal(answer.body.success, false, `${id}: no success`);
    t.equal(answer.body.data?.code, code, `${id}: code`);
    t.match(answer.body.error, error, `${id}: error`);
    const honest = await service.call('honest');
    t.same([honest.status, honest.body.data], [200, 'honest'], `${id}: another plugin serves`);
  }

  const waiting = await service.call('never-ends');
  t.same(waiting.body.metadata?.logs, [{ level: 'log', message: 'waiting' }], 'a timeout keeps its logs');
  const details = await service.call('plugin-error');
  t.same(details.body.data.details, { field: 'amount' }, 'a plugin’s own details arrive');
  const unknown = await service.call('not-there');
  t.equal(unknown.status, 404);
  t.equal(unknown.body.error, 'Plugin with id not-there not found');
});

t.test('a plugin is mended without a restart', async (t) => {
  const workspace = await createWorkspace({ pluginFiles: { 'mended.ts': 'export const handler = () => {{;' } });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());

  const broken = await service.call('mended');
  t.equal(broken.body.data?.code, 'COMPILE_ERROR');
  await workspace.writePlugin('mended.ts', `export const handler = () => 'first';`);
  t.equal(await eventually(service, 'mended', 'first'), 'first');
  await workspace.writePlugin('mended.ts', 'export const handler = () => {{;');
  await workspace.writePlugin('dropped.ts', `export const handler = () => 'dropped in';`);
  t.equal(await eventually(service, 'dropped', 'dropped in'), 'dropped in');
  const kept = await service.call('mended');
  t.equal(kept.body.data, 'first', 'a version that does not compile leaves the old one serving');
});

async function eventually(
  service: Awaited<ReturnType<typeof startService>>,
  plugin: string,
  wanted: string,
): Promise<unknown> {
  let data: unknown;
  for (let attempt = 0; attempt < 100 && data !== wanted; attempt++) {
    const answer = await service.call(plugin);
    data = answer.body.data;
    if (data !== wanted) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return data;
}
