import { AppError, messageOf } from '../domain/errors.ts';
import type { Json } from '../domain/json/json.ts';
import {
  EndpointUnfit,
  type ParseAnswer,
  type ReadFromEndpoint,
  type RpcClient,
  RpcError,
} from '../egress/rpc/rpc-client.ts';
import type { Network } from '../features/networks/record.ts';

/** How a node is asked which chain it serves. */
export interface ChainIdentityCall<T extends bigint | string> {
  method: string;
  /** Absent: an empty list. */
  params?: Json;
  served: ParseAnswer<T>;
  /** The chain that an endpoint has to serve. */
  chain: T;
}

/** How to find the right chain among those that endpoints serve. */
export interface ServedChainQuery<T extends bigint | string> extends Omit<ChainIdentityCall<T>, 'chain'> {
  /** What the answer names, in words: `chain id`. */
  what: string;
  /** The chain that is declared for the network, or was found before; null while it is unknown. */
  expected: T | null;
  /** Called for each endpoint that answers, with the chain that it says it serves. */
  onServed(host: string, chain: T): void;
}

/**
 * Asks every endpoint which chain it serves. One endpoint that serves the expected chain is enough; endpoints that
 * serve another chain or do not answer are left out. Without an expected chain, all endpoints that answer have to
 * agree, because nothing tells which one is right.
 * @throws AppError `PROVIDER_FAILED`
 */
export async function findServedChain<T extends bigint | string>(
  network: Network,
  rpc: RpcClient,
  question: ServedChainQuery<T>,
): Promise<T> {
  const { expected, onServed, params = [] } = question;
  const hosts = network.rpcUrls.filter(({ weight }) => weight > 0).map(({ url }) => new URL(url).host);
  const answered: { host: string; chain: T }[] = [];
  let reason = 'no endpoint is switched on';
  for (const [index, answer] of (await rpc.each(question.method, params)).entries()) {
    const host = String(hosts[index]);
    const chain = parsed(answer, question.served);
    if (chain === undefined) {
      reason = answer.status === 'rejected' ? messageOf(answer.reason) : `${host} has no ${question.what}`;
      continue;
    }
    answered.push({ host, chain });
    onServed(host, chain);
  }
  const [first] = answered;
  if (first === undefined) throw providerFailedError(network.name, reason);

  const right = expected ?? first.chain;
  const stray = answered.find(({ chain }) => chain !== right);
  const isServed = answered.some(({ chain }) => chain === right);
  if (stray === undefined || (expected !== null && isServed)) return right;
  throw providerFailedError(network.name, `${stray.host} serves chain ${stray.chain}, not ${right}`);
}

/** Undefined where there is no answer, or none that can be read. */
function parsed<T>(answer: PromiseSettledResult<Json> | undefined, parse: ParseAnswer<T>): T | undefined {
  if (answer?.status !== 'fulfilled') return undefined;
  try {
    return parse(answer.value);
  } catch {
    return undefined;
  }
}

/** How long an endpoint of another chain is left alone before it is asked once more. */
const STRAY_MS = 60_000;

/**
 * Returns a client with the same endpoints, of which only those that serve our chain count. An endpoint can be moved to
 * another chain at any time, and the account's figures there look real. So every read also asks the endpoint which
 * chain it serves, and an offer to all endpoints leaves out those that serve another chain. An offer to one endpoint
 * goes out unchecked, because all endpoints are asked what became of it.
 */
export function onlyEndpointsServing<T extends bigint | string>(
  rpc: RpcClient,
  question: ChainIdentityCall<T>,
): RpcClient {
  const { method, params = [], chain, served } = question;
  const check = (read: ReadFromEndpoint) =>
    read(
      method,
      params,
      (answer) => {
        const other = served(answer);
        if (other !== chain) throw new EndpointUnfit(`it serves chain ${other}, not ${chain}`, { pauseMs: STRAY_MS });
      },
      { shares: 'unsent' },
    );
  const checked = async <R>(read: ReadFromEndpoint, use: (read: ReadFromEndpoint) => Promise<R>) => {
    const [result] = await Promise.all([use(read), check(read)]);
    return result;
  };
  return {
    ...rpc,
    onOne: (use, options) => rpc.onOne((read) => checked(read, use), options),
    onOthers: (read, use) => rpc.onOthers(read, (other) => checked(other, use)),
    onAll: (use) => rpc.onAll((read) => checked(read, use)),
    offerEach: (offered, bytes) => rpc.offerEach(offered, bytes, check),
    each: (asked, given) => rpc.each(asked, given, check),
  };
}

/**
 * Makes what belongs to one chain, once for each. An accepted transaction stays on its lane's chain, whatever the
 * endpoints serve now.
 */
export function oncePerChain<Side>(make: (identity: string) => Side): (identity: string) => Side {
  const sides = new Map<string, Side>();
  return (identity) => {
    const side = sides.get(identity) ?? make(identity);
    sides.set(identity, side);
    return side;
  };
}

/** Runs a function that needs a node. Gives failures of the node the form of the service's errors. */
export async function withProviderErrors<T>(network: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof RpcError ? providerFailedError(network, error.message, error) : error;
  }
}

/** The error for a network whose endpoints cannot be used, with the reason. */
export function providerFailedError(network: string, reason: string, cause?: unknown): AppError<'PROVIDER_FAILED'> {
  return new AppError('PROVIDER_FAILED', { network, reason }, { cause });
}
