/**
 * Whatever a client makes of the description of the API: 10,000 requests are generated from it, good ones and bad ones,
 * and none ends with a 5xx or with an answer that the description does not have.
 */
import t from 'tap';
import { failureSchema } from '../../src/http/openapi/answers.ts';
import { answersByMethod, startRpcDouble } from '../support/rpc-double.ts';
import { seededRandom } from '../support/seeded.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const REQUESTS = 10_000;
const AT_ONCE = 16;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

interface Described {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, unknown>;
}

interface Operation extends Described {
  method: string;
  path: string;
}

/** Values that some field may take and others never do. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    2 ** 64,
    1e308,
    '',
    'x',
    '0',
    '-1',
    'null',
    '0x',
    '\u{0}',
    '\ud800',
    'é',
  ],
  ...[
    'x'.repeat(5_000),
    (2n ** 256n).toString(),
    '../..',
    '%2e%2e',
    '__proto__',
    'https://x.example',
    'http://10.0.0.1',
  ],
  ...[[], [[]], {}, [null], { a: { b: [] } }, 'local-1', 'evm', 'plain', ['*'], Array(300).fill(1)],
];
const IDS = [
  'local-1',
  'local-key',
  'evm:local',
  'evm:sepolia',
  'hello',
  'default',
  'x',
  '-',
  'a b',
  '..',
  '%00',
  '\u{1f680}',
  'x'.repeat(200),
];
/** What would end this service, ask nodes elsewhere, or never end. */
const LEFT_OUT = /openapi|\/rpc$|\/events$/;
/** What the other requests are about. */
const KEPT = 'delete /api/v1/relayers/{id}';

t.test('generated requests', async (t) => {
  const random = seededRandom(20_261_123, 'requests');
  const pick = <T>(among: readonly T[]): T => among[Math.floor(random() * among.length)] as T;
  const node = await startRpcDouble(answersByMethod({ eth_chainId: '0x7a69', eth_getBalance: '0xffffffffffffffff' }));
  t.teardown(() => node.stop());
  const workspace = await createWorkspace({
    rpcUrl: node.url,
    pluginFiles: { 'hello.ts': 'export const handler = () => 1;' },
    env: { RATE_LIMIT_BURST_SIZE: '1000000', RATE_LIMIT_REQUESTS_PER_SECOND: '100000' },
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());
  const { body: document } = await service.request('GET', '/api-docs/openapi.json');
  const paths = document.paths as Record<string, Record<string, Described>>;
  const operations: Operation[] = Object.entries(paths)
    .filter(([path]) => !LEFT_OUT.test(path))
    .flatMap(([path, methods]) =>
      METHODS.flatMap((method) =>
        methods[method] === undefined || `${method} ${path}` === KEPT ? [] : [{ ...methods[method], method, path }],
      ),
    );

  const statuses = new Map<number, number>();

  /** An example with a field or two that are changed, added or gone. */
  const mutated = (example: unknown): unknown => {
    if (random() < 0.15) return pick(VALUES);
    if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
    const fields = Object.entries(example);
    const changed = fields.flatMap(([key, value]): [string, unknown][] => {
      const dice = random();
      if (dice < 0.08) return [];
      return [[dice < 0.11 ? `${key}x` : key, dice < 0.3 ? pick(VALUES) : mutated(value)]];
    });
    return Object.fromEntries(random() < 0.05 ? [...changed, ['extra', pick(VALUES)]] : changed);
  };

  async function ask({
    method,
    path,
    parameters = [],
    requestBody,
    responses,
  }: Operation): Promise<string | undefined> {
    const url = new URL(
      path.replace(/\{\w+\}/g, () => encodeURIComponent(pick(IDS).toWellFormed())),
      service.url,
    );
    for (const { name, in: place } of parameters) {
      if (place === 'query' && random() < 0.3)
        url.searchParams.set(name, String(pick(VALUES)).toWellFormed().slice(0, 500));
    }
    const example = requestBody?.content['application/json']?.example;
    const body = requestBody === undefined ? undefined : JSON.stringify(mutated(example));
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: method.toUpperCase(), headers, ...(body !== undefined && { body }) });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const text = await answer.text();
    const what = `${method} ${url.pathname}${url.search} ${body?.slice(0, 300)}: ${answer.status} ${text.slice(0, 300)}`;
    if (answer.status >= 500) return `5xx: ${what}`;
    // A path that the address itself takes apart is another path.
    if (answer.status === 404 || answer.status === 405) return undefined;
    if (responses[answer.status] === undefined) return `not described: ${what}`;
    const isEnvelope =
      answer.status < 400 || path.includes('/call') || failureSchema.safeParse(JSON.parse(text)).success;
    return isEnvelope ? undefined : `no envelope: ${what}`;
  }

  const faults: string[] = [];
  let asked = 0;
  for (let done = 0; done < REQUESTS && faults.length < 10; done += AT_ONCE) {
    const some = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(pick(operations))));
    for (const fault of some) if (fault !== undefined) faults.push(fault);
    asked += AT_ONCE;
  }
  t.strictSame(faults, []);
  t.ok(operations.length > 50, 'all of the description');
  t.ok(asked >= REQUESTS);
  const met = (status: number) => statuses.get(status) ?? 0;
  t.ok(met(200) > 500 && met(400) > 500, `good and bad ones: ${JSON.stringify([...statuses])}`);
  t.notMatch(service.output(), /"level":"error".*request failed/);
});
