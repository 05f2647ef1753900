/**
 * Threat: bad input on any endpoint leads to a fault, a stack trace or an answer outside the envelope. The endpoints
 * come from the API's description, so none is left out.
 */
import t from 'tap';
import { failureSchema } from '../../src/http/openapi/answers.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

interface Described {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  security?: unknown[];
}

interface Asked {
  what: string;
  path: string;
  status?: number;
  authorization?: string;
  type?: string;
  body?: string;
  /** A text that the error must contain. */
  names?: string;
}

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  plugins: [{ id: 'hello', path: 'hello.ts' }],
  pluginFiles: { 'hello.ts': 'export const handler = () => 1;' },
  env: { RATE_LIMIT_BURST_SIZE: '1000000', RATE_LIMIT_REQUESTS_PER_SECOND: '1000000' },
});
t.teardown(() => workspace.remove());
await anvil.rpc('anvil_setBalance', [workspace.address, '0x8ac7230489e80000']);
const service = await composeService(workspace.env);
t.teardown(() => service.stop());
const made = async (path: string, body: object): Promise<string> =>
  (await service.request('POST', `/api/v1/${path}`, body)).body.data.id;

const { body: document } = await service.request('GET', '/api-docs/openapi.json');
const paths = document.paths as Record<string, Record<string, Described>>;
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => METHODS.has(method))
    .map(([method, described]) => ({ method, path, ...described })),
);

/** Invalid ids, and ids that try to be another path. */
const IDS = ['é🚀', '..%2f..%2fapi-keys', '%2e%2e', '%00', 'a%2Fb', '%ff', '%', ';', '__proto__', 'x'.repeat(17_000)];
const PAGES = ['page=-1', 'page=x', 'page=1.5', 'page=4294967296', 'page=1&page=2', 'per_page=-1', 'per_page=1e3'];
const FINE_PAGES = ['page=0', 'per_page=0', 'per_page=501', 'per_page=99999999999999999999', 'page=4294967295'];
const HUGE = [2n ** 53n + 1n, 2n ** 64n, 2n ** 256n, -(2n ** 256n)];
const UNKNOWN = 'an_unknown_field';
/**
 * Operations whose refusal names no field: EVM relayers do not support them, the node judges them, or they are always
 * refused.
 */
const NAMES_NOTHING = /\/sponsored\/|\/rpc$|\/signers\/\{id\}$|\/hooks\//;
/** By kind: an id that exists. */
const REAL: Readonly<Record<string, string>> = {
  relayers: 'local-1',
  plugins: 'hello',
  networks: 'evm:local',
  signers: 'local-key',
  notifications: await made('notifications', { url: 'https://hooks.example/' }),
  'api-keys': await made('api-keys', { name: 'Reader', permissions: ['metrics:read'] }),
};

/** The example's JSON, with one of its fields (nested ones too) replaced by the given JSON text. */
function* replaced(example: unknown, by: string): Generator<string> {
  if (typeof example !== 'object' || example === null) return;
  const marked = '\u{1}';
  const write = (value: unknown) => JSON.stringify(value).replace(JSON.stringify(marked), by);
  for (const [key, value] of Object.entries(example)) {
    yield write({ ...example, [key]: marked });
    for (const inner of replaced(value, by))
      yield JSON.stringify({ ...example, [key]: marked }).replace(JSON.stringify(marked), inner);
  }
}

function* bodies(example: unknown): Generator<[what: string, body: string]> {
  const some = typeof example === 'object' && example !== null && !Array.isArray(example) ? example : {};
  yield* Object.entries({
    'half an object': '{"a":',
    'two values': '{} {}',
    'no JSON': 'value=1',
    'a list': '[]',
    'a text': '"x"',
    'a number': '5',
    nothing: 'null',
    'a prototype': '{"__proto__":{"isAdmin":true}}',
    'a constructor': '{"constructor":{"prototype":{"isAdmin":true}}}',
    'a deep one': `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  });
  const others = [
    'null',
    'true',
    '[]',
    '{}',
    '""',
    '"\\ud800\\u0000"',
    `"${'x'.repeat(100_000)}"`,
    ...HUGE.map(String),
  ];
  for (const other of others) {
    for (const body of replaced(some, other)) yield [`a field that is ${other.slice(0, 20)}`, body];
  }
}

function realPath(path: string): string {
  const [, kind = ''] = /^(?:\/api\/v1)?\/([\w-]+)/.exec(path) ?? [];
  return path.replace('{id}', encodeURIComponent(REAL[kind] ?? 'none')).replace(/\{\w+\}/g, 'none');
}

function* badInput(operation: (typeof operations)[number]): Generator<Asked> {
  const { method, path, requestBody, parameters = [], security } = operation;
  const real = realPath(path);
  const isPublic = security?.length === 0;
  if (!isPublic) {
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Bearer wrong', `Basic ${service.apiKey}`, service.apiKey]) {
      yield { what: `credentials ${authorization.slice(0, 10)}`, path: real, authorization, status: 401 };
    }
  }
  if (path.includes('{')) {
    for (const id of IDS) yield { what: `id ${id.slice(0, 20)}`, path: path.replace(/\{\w+\}/g, id) };
  }
  if (parameters.some(({ name, in: place }) => place === 'query' && name === 'page')) {
    for (const query of PAGES) yield { what: query, path: `${real}?${query}`, status: 400 };
    for (const query of FINE_PAGES) yield { what: query, path: `${real}?${query}` };
  }
  if (requestBody === undefined || method === 'get') return;
  const isCall = path.includes('/call');
  const json = requestBody.content['application/json'];
  if (!isCall) {
    yield { what: 'another type', path: real, body: '{}', type: 'text/plain', status: 415 };
    yield { what: 'no type', path: real, body: '{}', type: '', status: 415 };
  }
  yield { what: 'a large body', path: real, body: `"${'x'.repeat(isCall ? 2_100_000 : 530_000)}"`, status: 413 };
  for (const [what, body] of bodies(json?.example)) yield { what, path: real, body };
}

async function fault(
  method: string,
  { what, path, status, authorization, type, body, names = '' }: Asked,
): Promise<string | undefined> {
  const headers: Record<string, string> = { authorization: authorization ?? `Bearer ${service.apiKey}` };
  if (authorization === '') delete headers['authorization'];
  // Unlike a string, bytes get no default content type from fetch.
  if (body !== undefined && type !== '') headers['content-type'] = type ?? 'application/json';
  const answer = await fetch(`${service.url}${path}`, {
    method: method.toUpperCase(),
    headers,
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  const text = await answer.text();
  const told = `${method} ${path.slice(0, 80)}, ${what}: ${answer.status} ${text.slice(0, 200)}`;
  if (answer.status >= 500 && answer.status !== 501) return `a fault: ${told}`;
  if (/\bat .*\.ts:\d|node_modules|SyntaxError/.test(text)) return `a stack: ${told}`;
  if (status !== undefined && answer.status !== status) return `not ${status}: ${told}`;
  if (!text.includes(names)) return `${names} is not named: ${told}`;
  if (answer.status < 400) return undefined;
  if (answer.headers.get('content-type') !== 'application/json; charset=utf-8') return `no JSON: ${told}`;
  return failureSchema.safeParse(JSON.parse(text)).success || path.includes('/call')
    ? undefined
    : `no envelope: ${told}`;
}

t.test('an unknown field is refused by its name', async (t) => {
  const faults: unknown[] = [];
  for (const { method, path, requestBody } of operations) {
    const example = requestBody?.content['application/json']?.example;
    if (example === undefined || path.includes('/call') || NAMES_NOTHING.test(path)) continue;
    const body = JSON.stringify({ ...(example as object), [UNKNOWN]: 1 });
    faults.push(
      await fault(method, { what: 'an unknown field', path: realPath(path), body, status: 400, names: UNKNOWN }),
    );
  }
  t.strictSame(
    faults.filter((one) => one !== undefined),
    [],
  );
  t.ok(faults.length > 15, `${faults.length} operations`);
});

t.test('every endpoint answers every kind of bad input in the envelope', async (t) => {
  const left = operations
    // Leave out the event stream, which never ends. The filter below also leaves out requests that would delete the
    // relayer.
    // A webhook is raw bytes with a signature, which is judged first.
    .filter(({ path }) => !path.endsWith('/events') && !path.includes('/hooks/'))
    // Patches come last, because an accepted one may pause the relayer. A paused relayer reads no other body.
    .toSorted((a, b) => Number(a.method === 'patch') - Number(b.method === 'patch'))
    .flatMap((operation) => [...badInput(operation)].map((asked) => ({ method: operation.method, asked })))
    .filter(
      ({ method, asked }) => method !== 'delete' || !asked.path.endsWith('/relayers/local-1') || asked.status === 401,
    );
  const count = left.length;
  const faults: string[] = [];
  while (left.length > 0 && faults.length < 20) {
    const some = await Promise.all(left.splice(0, 16).map(({ method, asked }) => fault(method, asked)));
    faults.push(...some.filter((one) => one !== undefined));
  }
  t.strictSame(faults, []);
  t.ok(operations.length > 60, `${operations.length} operations`);
  t.ok(count > 1_500, `${count} requests`);
  t.equal(({} as Record<string, unknown>)['isAdmin'], undefined);
  t.equal((await service.request('GET', '/api/v1/relayers/local-1')).status, 200);
});
