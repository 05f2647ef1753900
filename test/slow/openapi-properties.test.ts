/**
 * Requests generated from the API's description, thousands here, and twenty times as many in the soak of properties. The
 * first ones are good and bad, about things that exist and things that do not; the next have all a form that the
 * description allows, and are never refused for their form; the last are bodies for relayers of Solana and Stellar, most
 * of which no description can tell from good ones (base64 of transactions). None causes a fault of the service or of its node. The
 * status, code and body of each answer match the description.
 */
import { randomUUID } from 'node:crypto';
import { Keypair, SystemProgram } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { writeJson } from '../../src/domain/json/json-text.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { faultOf } from '../support/described-answer.ts';
import { arbitraryOf, type DescribedSchema } from '../support/openapi-arbitrary.ts';
import { fc, propertySeed, runsOf } from '../support/properties.ts';
import { seededRandom } from '../support/seeded.ts';
import { solanaStage } from '../support/solana-stage.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';
import { createWorkspace } from '../support/workspace.ts';

const REQUESTS = runsOf(800);
const AT_ONCE = 16;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

interface Parameter {
  name: string;
  in: string;
  schema: DescribedSchema;
}

interface Described {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown; schema: DescribedSchema }> };
}

interface Operation extends Described {
  method: string;
  path: string;
}

/** Values that some fields accept and others never do. */
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
/** Ids that do not exist, or are invalid. */
const NO_IDS = ['x', '-', 'a b', '%00', '\u{1f680}', 'x'.repeat(200)];
/** Ids that exist, by the kind in the path. */
const IDS: Readonly<Record<string, readonly string[]>> = {
  relayers: ['local-1'],
  plugins: ['hello'],
  networks: ['evm:local', 'evm:sepolia'],
  signers: ['local-key'],
  notifications: ['hook'],
  'api-keys': ['default'],
  metrics: ['isolayer_http_requests_total'],
};
/** Event streams never end, and webhooks are raw bytes with a signature. */
const LEFT_OUT = /\/events$|\/hooks\//;
/** Operations that change the resource in their path. */
const CHANGES = /^(patch|delete) \S+\{id\}$|(disable|enable|reload)$/;

/**
 * Operations that need not succeed: signers cannot be changed, no webhook has had an event yet, EVM relayers do not
 * sponsor fees, a transaction may be mined before it is replaced, and no plugin here has calls or triggers.
 */
const NEVER = /^patch .*\/signers|\{deliveryId\}|\/sponsored\/|^put .*\/transactions\/|\{call\}|\/triggers\//;

/** A service with two relayers, two plugins, a webhook and a network of its own, over a node with slow blocks. */
async function stage(t: Test) {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    accounts: 2,
    plugins: ['hello', 'other'].map((id) => ({ id, path: `${id}.ts`, allow_get_invocation: true })),
    pluginFiles: { 'hello.ts': 'export const handler = () => 1;', 'other.ts': 'export const handler = () => 1;' },
    env: { RATE_LIMIT_BURST_SIZE: '1000000', RATE_LIMIT_REQUESTS_PER_SECOND: '100000' },
  });
  t.teardown(() => workspace.remove());
  for (const address of workspace.addresses) await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  // Slow blocks, so that some transactions are still open when they are replaced.
  await anvil.rpc('evm_setIntervalMining', [1]);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  await service.request('POST', '/api/v1/notifications', { id: 'hook', url: 'https://hooks.example/' });
  const network = { name: 'mine', network_type: 'evm', rpc_urls: ['https://rpc.example'], chain_id: 5 };
  await service.request('POST', '/api/v1/networks', network);
  const { body: document } = await service.request('GET', '/api-docs/openapi.json');
  const paths = document.paths as Record<string, Record<string, Described>>;
  const operations: Operation[] = Object.entries(paths)
    .filter(([path]) => !LEFT_OUT.test(path))
    .flatMap(([path, methods]) =>
      METHODS.flatMap((method) => (methods[method] === undefined ? [] : [{ ...methods[method], method, path }])),
    );

  return { service, operations, schemas: document.components.schemas as Record<string, DescribedSchema> };
}

t.test('generated requests', async (t) => {
  const random = seededRandom(propertySeed(), 'requests');
  const pick = <T>(among: readonly T[]): T => among[Math.floor(random() * among.length)] as T;
  const { service, operations } = await stage(t);
  /** Only these resources and those that requests make are changed. Other requests need the rest. */
  const changeable: Record<string, string[]> = { relayers: ['local-2'], plugins: ['other'], networks: ['evm:mine'] };
  const statuses = new Map<number, number>();
  /** By operation: the number of successful answers. */
  const succeeded = new Map<string, number>();
  /** The ids of sent transactions. */
  const transactionIds = ['x'];
  const hashes = ['0x1'];

  /** An example with a few fields changed, added or removed. */
  const mutated = (example: unknown): unknown => {
    if (random() < 0.08) return pick(VALUES);
    if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
    const fields = Object.entries(example);
    const changed = fields.flatMap(([key, value]): [string, unknown][] => {
      const dice = random();
      if (dice < 0.05) return [];
      return [[dice < 0.07 ? `${key}x` : key, dice < 0.18 ? pick(VALUES) : mutated(value)]];
    });
    return Object.fromEntries(random() < 0.05 ? [...changed, ['extra', pick(VALUES)]] : changed);
  };

  const idFor = (name: string, { method, path }: Operation, isPlain: boolean): string => {
    if (name === 'transactionId') return pick(random() < 0.5 ? transactionIds : transactionIds.slice(-3));
    if (name === 'hash') return pick(hashes);
    if (name === 'nonce') return pick(['0', '1', '99', 'x', '18446744073709551616']);
    const [, kind = ''] = /^(?:\/api\/v1)?\/([\w-]+)/.exec(path) ?? [];
    const there = CHANGES.test(`${method} ${path}`) ? changeable[kind] : IDS[kind];
    return pick(there === undefined || (!isPlain && random() < 0.2) ? NO_IDS : there);
  };

  async function ask(operation: Operation, isPlain = false): Promise<string | undefined> {
    const { method, path, parameters = [], requestBody } = operation;
    const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(idFor(name, operation, isPlain)));
    const url = new URL(place, service.url);
    for (const { name, in: where } of parameters) {
      if (where === 'query' && random() < 0.2)
        url.searchParams.set(name, String(pick(VALUES)).toWellFormed().slice(0, 500));
    }
    const example = requestBody?.content['application/json']?.example;
    const body = requestBody === undefined ? undefined : JSON.stringify(isPlain ? example : mutated(example));
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: method.toUpperCase(), headers, ...(body !== undefined && { body }) });
    const { status } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const text = await answer.text();
    if (status < 300) {
      const name = `${method} ${path}`;
      succeeded.set(name, (succeeded.get(name) ?? 0) + 1);
      if (name === 'post /api/v1/relayers/{id}/transactions') transactionIds.push(JSON.parse(text).data.id);
      const [, made] = /^post \/api\/v1\/([\w-]+)$/.exec(name) ?? [];
      if (made !== undefined) (changeable[made] ??= []).push(JSON.parse(text).data.id);
      if (name.endsWith('/by-nonce/{nonce}')) hashes.push(JSON.parse(text).data.hash ?? '0x1');
    }
    const fault =
      status >= 500 ? 'a fault' : faultOf({ method: method.toUpperCase(), path: url.pathname, status, text });
    if (fault === undefined) return undefined;
    const what = `${method} ${url.pathname}${url.search} ${body?.slice(0, 300)}`;
    return `${fault}: ${what}: ${status} ${text.slice(0, 300)}`;
  }

  const faults: string[] = [];
  // First send the unchanged examples, because changed ones with many fields are rarely valid. Then send them in
  // reverse order, because some operations need ids that later ones make.
  for (const operation of [...operations, ...operations.toReversed()]) {
    const fault = await ask(operation, true);
    if (fault !== undefined) faults.push(fault);
  }
  let asked = 0;
  for (; asked < REQUESTS && faults.length < 10; asked += AT_ONCE) {
    const some = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(pick(operations))));
    for (const fault of some) if (fault !== undefined) faults.push(fault);
  }
  t.strictSame(faults, []);
  t.ok(operations.length > 60, 'all of the description');
  t.ok(asked >= REQUESTS);
  const met = (status: number) => statuses.get(status) ?? 0;
  t.ok(met(200) > 0.3 * REQUESTS && met(400) > 0.05 * REQUESTS, `good and bad ones: ${JSON.stringify([...statuses])}`);
  const never = operations.map(({ method, path }) => `${method} ${path}`).filter((name) => !succeeded.has(name));
  t.strictSame(
    never.filter((name) => !NEVER.test(name)),
    [],
    'each operation does what it is for',
  );
  t.notMatch(service.output(), /"level":"error".*request failed/);
});

/** Refusals of what a request means, which a description of its form cannot say. */
const OF_MEANING: readonly RegExp[] = [
  // What exists, and who may change it.
  /Network '.*' not found|there is no \w+ network|is already in use|cannot sign for|Gas abstraction not supported/,
  /declared in the configuration|The key of the environment|Signer updates are not allowed/,
  // What must hold between fields.
  /Both txs `to` and `data`|require both|not both|At least one field|rpc_urls: missing|needs a signing_key|has no effect without|missing field|is another one/,
  /Transaction|price|speed|is too low|\.y_parity|\.chain_id|expected 27 more|client_secret|authority_host/,
  /has the unknown key|does not fit its type|`types` has no/,
  // Which credentials of a signer go together.
  /config\S*: (without|needed)|is not a private key|of this server/,
  // What no pattern can say of a value: its checksum, host, age, largest figure.
  /checksum|must be an origin|in the past|next_cursor of this list|must be a contract|is not an address|not an address of|hex key format/,
  /expected a nonce below|at most \d+ bits|from 0 to 18446744073709551614|order of secp256k1|weight must be above 0/,
  // Policies, where null means absent.
  /strategy is required|Stellar policy is required|at least one strategy|Asset identifier|Issuer|Swap config|cron schedule|valid Solana address/,
];

t.test('what the description allows is not refused for its form', async (t) => {
  const { service, operations, schemas } = await stage(t);
  /** The ids that may be changed, by kind: the spare ones, and those that requests made. */
  const changeable: Record<string, string[]> = { relayers: ['local-2'], plugins: ['other'], networks: ['evm:mine'] };
  const texts = [...NO_IDS, ...Object.values(IDS).flat(), 'local', 'mine'];
  // The relayers here are EVM relayers; networks, relayers and signers of the other families can be made.
  const fits = (name: string) => !/^(Solana|Stellar)(?!Network$|Relayer)/.test(name);
  const of = (schema: DescribedSchema) => arbitraryOf(schema, { schemas, texts, fits });
  const kindOf = (path: string) => /^(?:\/api\/v1)?\/([\w-]+)/.exec(path)?.[1] ?? '';

  const parameter = ({ method, path }: Operation, { name, in: place, schema }: Parameter) => {
    const changes = CHANGES.test(`${method} ${path}`);
    const ids = name === 'id' ? (changes ? changeable : IDS)[kindOf(path)] : undefined;
    if (ids !== undefined) return fc.constantFrom(...ids);
    if (place === 'path') return of({ minLength: 1, ...schema }).map(String);
    return fc.option(of(schema).map(String), { nil: undefined });
  };

  const requests = (operation: Operation) => {
    const { method, path, parameters = [], requestBody } = operation;
    const json = requestBody?.content['application/json'];
    const whole = json === undefined ? fc.constant(undefined) : of(json.schema);
    const example = json?.example;
    // Many bodies contradict themselves, so some are the example with a field or two of a generated body. The example
    // of a union has the form of one alternative only.
    const isUnion = /^post .*\/(relayers|networks|signers|sign-typed-data)$/.test(`${method} ${path}`);
    const varied = whole.chain((body) =>
      isObject(body) && isObject(example)
        ? fc
            .shuffledSubarray(Object.entries(body), { maxLength: Math.min(2, Object.keys(body).length) })
            .map((some) => ({ ...example, ...Object.fromEntries(some) }))
        : fc.constant(body),
    );
    const body = isUnion ? whole : fc.oneof(whole, varied);
    return fc.record({ values: fc.tuple(...parameters.map((one) => parameter(operation, one))), body });
  };

  const met = new Map<number, number>();

  async function faultIn(
    { method, path, parameters = [] }: Operation,
    { values, body }: { values: readonly (string | undefined)[]; body: unknown },
  ): Promise<string | undefined> {
    const url = new URL(service.url);
    const headers: Record<string, string> = { authorization: `Bearer ${service.apiKey}` };
    let place = path;
    for (const [index, { name, in: where }] of parameters.entries()) {
      const value = values[index];
      if (value === undefined) continue;
      if (where === 'path') place = place.replace(`{${name}}`, () => encodeURIComponent(value));
      else if (where === 'query') url.searchParams.set(name, value);
      // With one key for two requests, the second is a repeat.
      else headers[name] = name === 'Idempotency-Key' ? randomUUID() : value;
    }
    url.pathname = place;
    const sent = body === undefined ? undefined : writeJson(body);
    if (sent !== undefined) headers['content-type'] = 'application/json';
    const answer = await fetch(url, {
      method: method.toUpperCase(),
      headers,
      ...(sent !== undefined && { body: sent }),
    });
    const { status } = answer;
    const text = await answer.text();
    met.set(status, (met.get(status) ?? 0) + 1);
    const made: string | undefined = status === 201 ? JSON.parse(text).data.id : undefined;
    // Bodies are of the EVM family.
    if (made !== undefined && !/^(solana|stellar):/.test(made)) (changeable[kindOf(path)] ??= []).push(made);
    const fault =
      status >= 500 ? 'a fault' : faultOf({ method: method.toUpperCase(), path: url.pathname, status, text });
    // A plugin may answer with any status.
    const isForm =
      [400, 413, 415].includes(status) && !path.includes('/call') && !OF_MEANING.some((one) => one.test(text));
    if (fault === undefined && !isForm) return undefined;
    const what = `${method} ${url.pathname}${url.search} ${sent?.slice(0, 300)}`;
    return `${fault ?? 'refused for its form'}: ${status} ${text.slice(0, 200)}: ${what}`;
  }

  const faults: string[] = [];
  let asked = 0;
  // Deletions come last, so that the others have something to act on.
  const inOrder = operations.toSorted((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'));
  for (const [index, operation] of inOrder.entries()) {
    const left = fc.sample(requests(operation), { seed: propertySeed() + index, numRuns: runsOf(40) });
    asked += left.length;
    while (left.length > 0 && faults.length < 20) {
      const some = await Promise.all(left.splice(0, AT_ONCE).map((request) => faultIn(operation, request)));
      faults.push(...some.filter((fault) => fault !== undefined));
    }
  }
  t.strictSame(faults, []);
  t.ok(asked > 2_000, `${asked} requests`);
  t.ok((met.get(200) ?? 0) > asked / 2, `most are accepted: ${JSON.stringify([...met])}`);
});

/** The other families: services with a relayer, and bodies that they accept or nearly accept. */
const FAMILIES = {
  Solana: async (t: Test) => {
    const stage = await solanaStage(t);
    const receiver = Keypair.generate().publicKey;
    const pay = SystemProgram.transfer({ fromPubkey: stage.relayer, toPubkey: receiver, lamports: 1_000_000 });
    const instructions = [
      {
        program_id: SystemProgram.programId.toBase58(),
        accounts: pay.keys.map(({ pubkey, isSigner, isWritable }) => ({
          ...{ pubkey: pubkey.toBase58(), is_signer: isSigner, is_writable: isWritable },
        })),
        data: pay.data.toString('base64'),
      },
    ];
    const transaction = await stage.built([], pay);
    return {
      service: stage.service,
      bodies: { transactions: [{ transaction }, { instructions }], 'sign-transaction': [{ transaction }] },
    };
  },
  Stellar: async (t: Test) => {
    const stage = await stellarStage(t);
    const operations = [payment(stage.relayer.publicKey(), 1n)];
    return {
      service: stage.service,
      bodies: {
        transactions: [{ network: 'testnet', operations }],
        'sign-transaction': [{ unsigned_xdr: 'AAAA' }],
      },
    };
  },
};

/** Where a body is of the relayer's family. */
const PATHS_OF_FAMILIES = [
  'transactions',
  'sign-transaction',
  'sign',
  'transactions/sponsored/quote',
  'transactions/sponsored/build',
];

for (const [family, start] of Object.entries(FAMILIES)) {
  t.test(`${family}: bodies of the family that are generated cause no fault`, async (t) => {
    const { service, bodies } = await start(t);
    const { body: document } = await service.request('GET', '/api-docs/openapi.json');
    const schemas = document.components.schemas as Record<string, DescribedSchema>;
    const fits = (name: string) => !/^(Evm|Solana|Stellar)/.test(name) || name.startsWith(family);
    const met = new Map<string, number>();
    const faults: string[] = [];
    for (const [index, path] of PATHS_OF_FAMILIES.entries()) {
      const described = document.paths[`/api/v1/relayers/{id}/${path}`]?.post as Described;
      const schema = described.requestBody?.content['application/json']?.schema;
      if (schema === undefined) throw new Error(`no body at ${path}`);
      const whole = arbitraryOf(schema, { schemas, fits, texts: [] });
      const good = (bodies as Record<string, object[]>)[path] ?? [];
      const varied = whole.chain((body) => {
        const fields = Object.entries(body as object);
        const some = fc.shuffledSubarray(fields, { maxLength: Math.min(2, fields.length) });
        return fc
          .tuple(fc.constantFrom<object>({}, ...good), some)
          .map(([one, changed]) => ({ ...one, ...Object.fromEntries(changed) }));
      });
      const asked = [
        ...good,
        ...fc.sample(fc.oneof(whole, varied), { seed: propertySeed() + index, numRuns: runsOf(100) }),
      ];
      while (asked.length > 0 && faults.length < 10) {
        await Promise.all(
          asked.splice(0, AT_ONCE).map(async (body) => {
            const url = `/api/v1/relayers/local-1/${path}`;
            const sent = writeJson(body);
            const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
            const answer = await fetch(new URL(url, service.url), { method: 'POST', headers, body: sent });
            const text = await answer.text();
            const key = `${path} ${answer.status}`;
            met.set(key, (met.get(key) ?? 0) + 1);
            const fault =
              answer.status >= 500 ? 'a fault' : faultOf({ method: 'POST', path: url, status: answer.status, text });
            if (fault !== undefined)
              faults.push(`${fault}: ${url} ${sent.slice(0, 400)}: ${answer.status} ${text.slice(0, 300)}`);
          }),
        );
      }
    }
    t.strictSame(faults, []);
    t.comment(JSON.stringify([...met]));
    t.ok((met.get('transactions 200') ?? 0) > 0 && (met.get('transactions 400') ?? 0) > 0, 'good and bad ones');
    t.notMatch(service.output(), /"level":"error".*request failed/);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
