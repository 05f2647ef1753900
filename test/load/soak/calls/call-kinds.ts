/** One plugin of the mix, with a check for its answers. */
export interface CallKind {
  readonly id: string;
  /** The share of the calls, in percent. */
  readonly share: number;
  readonly source: string;
  /** Fields of its entry in the configuration, other than id and path. */
  readonly entry: object;
  readonly isRight: (answer: CallAnswer, n: number) => boolean;
  /** Isolates that each of its processes keeps ready when there are no more calls. */
  readonly ready: number;
}

export interface CallAnswer {
  readonly status: number;
  readonly body: { success: boolean; data: unknown; error: string | null };
}

/** High limits, so that no call fails on a busy machine. */
const PATIENT = { limits: { slice_ms: 10_000, cpu_ms: 60_000 } };

const returns = ({ status, body }: CallAnswer, n: number) => status === 200 && body.success && body.data === n;

/** The mix. @param port of the server on loopback that the `fetches` plugin asks */
export function callKinds(port: number): readonly CallKind[] {
  const reusing = { entry: PATIENT, isRight: returns, ready: 1 };
  return [
    { ...reusing, id: 'trivial', share: 44, source: 'export const handler = ({ params }) => params.n;' },
    {
      ...reusing,
      id: 'stores',
      share: 16,
      source: `export const handler = async ({ params: { n }, kv }) => {
        await kv.set('call-' + n, { n });
        const { n: kept } = await kv.get('call-' + n);
        if (!(await kv.del('call-' + n))) throw new Error('not there');
        return kept;
      };`,
    },
    {
      ...reusing,
      id: 'fetches',
      share: 12,
      source: `export const handler = async ({ params: { n } }) => {
        const response = await fetch('http://127.0.0.1:${port}/' + n);
        return Number(await response.text());
      };`,
      entry: { ...PATIENT, permissions: { hosts: [{ host: `127.0.0.1:${port}`, private: true }] } },
    },
    {
      ...reusing,
      id: 'throws',
      share: 12,
      source: `import { pluginError } from '@openzeppelin/relayer-sdk';
        export const handler = ({ params: { n } }) => {
          throw pluginError('no ' + n, { code: 'NO', status: 418, details: { n } });
        };`,
      isRight: ({ status, body }, n) =>
        status === 418 &&
        JSON.stringify(body.data) === `{"code":"NO","details":{"n":${n}}}` &&
        body.error === `no ${n}`,
    },
    {
      ...reusing,
      id: 'leaves-work',
      share: 8,
      source: `export const handler = ({ params: { n }, kv }) => {
        setInterval(() => kv.get('x'), 5);
        kv.get('y').then(() => new Promise(() => {}));
        return n;
      };`,
    },
    {
      id: 'alone',
      share: 7,
      source: `let calls = 0;
        export const handler = ({ params: { n } }) => { calls += 1; return calls === 1 ? n : -1; };`,
      entry: { ...PATIENT, isolation: 'call' },
      isRight: returns,
      ready: 3,
    },
    {
      ...reusing,
      id: 'times-out',
      share: 1,
      source: 'export const handler = () => new Promise(() => {});',
      entry: { ...PATIENT, timeout: 1 },
      isRight: ({ status, body }) => status === 504 && JSON.stringify(body.data) === '{"code":"TIMEOUT","details":{}}',
    },
  ];
}

/** The kind of the call with this number. Kinds are spread evenly, in the same way in each run. */
export function kindOf(kinds: readonly CallKind[], n: number): CallKind {
  // 61 and 100 are coprime, so each hundred calls use each slot once, in mixed order.
  let slot = (n * 61) % 100;
  for (const kind of kinds) {
    slot -= kind.share;
    if (slot < 0) return kind;
  }
  throw new Error('the shares are not a hundred');
}
