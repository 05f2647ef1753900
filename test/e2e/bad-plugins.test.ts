/**
 * Mistakes of plugin authors. Each answer names the cause and the place, and the server keeps serving everything else.
 */
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const HONEST = `export async function handler() { return 'honest'; }\n`;

interface Wrong {
  status: number;
  code: string;
  error: RegExp;
}

/** By plugin id: a source that is not a valid plugin, and the expected answer. */
const SOURCES: Record<string, Wrong & { source: string }> = {
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
};

/** Bodies of a handler, and the expected answer. */
const DEEDS: Record<string, Wrong & { body: string }> = {
  'throws-error': {
    body: `throw new Error('broken inside');`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /^broken inside$/,
  },
  'throws-text': {
    body: `throw 'just text';`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /^just text$/,
  },
  'throws-undefined': {
    body: `throw undefined;`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /^undefined$/,
  },
  'throws-a-function': {
    body: `throw function secret() {};`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /function/,
  },
  'throws-hostile-getters': {
    body: `throw { get message() { throw new Error('gotcha'); } };`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /./,
  },
  'throws-a-proxy': {
    body: `const trap = () => { throw new Error('trap'); };
      throw new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });`,
    status: 500,
    code: 'PLUGIN_ERROR',
    error: /./,
  },
  'type-error': {
    body: `return undefined.x;`,
    status: 500,
    code: 'TYPE_ERROR',
    error: /undefined/,
  },
  'plugin-error': {
    body: `throw pluginError('no amount', { code: 'VALIDATION_FAILED', status: 422, details: { field: 'amount' } });`,
    status: 422,
    code: 'VALIDATION_FAILED',
    error: /^no amount$/,
  },
  'returns-a-function': {
    body: `return () => 1;`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /function/,
  },
  'returns-a-bigint': {
    body: `return { items: [{ price: 5n }] };`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /items\[0\]\.price.*BigInt/,
  },
  'returns-a-cycle': {
    body: `const a = {}; a.self = { a }; return a;`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /self\.a/,
  },
  'returns-100-mb': {
    body: `return 'x'.repeat(100 * 1024 * 1024);`,
    status: 500,
    code: 'RESULT_TOO_LARGE',
    error: /1048576/,
  },
  'never-ends': {
    body: `console.log('waiting'); return new Promise(() => {});`,
    status: 504,
    code: 'TIMEOUT',
    error: /^Plugin execution timed out after 1 seconds$/,
  },
};

const deeds = Object.entries(DEEDS).map(([id, { body }]) => `  '${id}': () => { ${body} },`);
/** One plugin that does any of these on request. */
const WRONG = `import { pluginError } from '@openzeppelin/relayer-sdk';
const deeds = {
${deeds.join('\n')}
};
export const handler = ({ params }) => deeds[params.deed]();
`;

const sources = Object.entries(SOURCES).map(([id, { source }]) => [`${id}.ts`, source]);
const workspace = await createWorkspace({
  pluginFiles: { 'honest.ts': HONEST, 'wrong.ts': WRONG, ...Object.fromEntries(sources) },
  plugins: [{ id: 'wrong', path: 'wrong.ts', timeout: 1, emit_logs: true }],
});
t.teardown(() => workspace.remove());
const service = await composeService(workspace.env);
t.teardown(() => service.stop());

t.test('a plugin that gets it wrong', async (t) => {
  const told = (deed: string) => service.call('wrong', { deed });
  const calls = [
    ...Object.entries(SOURCES).map(([id, wanted]) => ({ id, wanted, call: service.call })),
    ...Object.entries(DEEDS).map(([id, wanted]) => ({ id, wanted, call: told })),
  ];
  const answers = new Map<string, AnswerBody>();
  for (const { id, wanted, call } of calls) {
    const { status, body } = await call(id);
    answers.set(id, body);
    t.equal(status, wanted.status, `${id}: status`);
    t.equal(body.success, false, `${id}: no success`);
    t.equal(body.data?.code, wanted.code, `${id}: code`);
    t.match(body.error, wanted.error, `${id}: error`);
    const honest = await service.call('honest');
    t.same([honest.status, honest.body.data], [200, 'honest'], `${id}: another plugin serves`);
  }
  const waiting = answers.get('never-ends');
  t.same(waiting.metadata?.logs, [{ level: 'log', message: 'waiting' }], 'a timeout keeps its logs');
  t.same(answers.get('plugin-error').data.details, { field: 'amount' }, 'a plugin’s own details arrive');
  const unknown = await service.call('not-there');
  t.equal(unknown.status, 404);
  t.equal(unknown.body.error, 'Plugin with id not-there not found');
});

t.test('a plugin is mended without a restart', async (t) => {
  await workspace.writePlugin('mended.ts', 'export const handler = () => {{;');
  const broken = await answersWith('mended', ({ data }) => data?.code === 'COMPILE_ERROR');
  t.equal(broken.data?.code, 'COMPILE_ERROR');
  await workspace.writePlugin('mended.ts', `export const handler = () => 'first';`);
  t.equal((await answersWith('mended', ({ data }) => data === 'first')).data, 'first');
  await workspace.writePlugin('mended.ts', 'export const handler = () => {{;');
  await workspace.writePlugin('dropped.ts', `export const handler = () => 'dropped in';`);
  t.equal((await answersWith('dropped', ({ data }) => data === 'dropped in')).data, 'dropped in');
  const kept = await service.call('mended');
  t.equal(kept.body.data, 'first', 'a version that does not compile leaves the old one serving');
});

/** The answer of a plugin as soon as it is the expected one, or the last answer. */
async function answersWith(plugin: string, isWanted: (body: AnswerBody) => boolean): Promise<AnswerBody> {
  let { body } = await service.call(plugin);
  for (let attempt = 0; attempt < 100 && !isWanted(body); attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    ({ body } = await service.call(plugin));
  }
  return body;
}
