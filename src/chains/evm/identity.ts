import { messageOf } from '../../domain/errors.ts';
import type { Json } from '../../domain/json/json.ts';
import type { Network } from '../../domain/network.ts';
import type { ParseAnswer, ReadOne, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { providerFailed } from '../provider-failure.ts';
import { figureOfAll } from '../quorum.ts';
import { balance, onlyOn, quantity } from './provider.ts';

/** What tells the right chain among those that endpoints serve. */
export interface IdentityQuestion {
  /** Declared for the network, or found before; null when nobody knows yet. */
  expected: bigint | null;
  /** Told what each endpoint that answers says it serves. */
  onServed(host: string, chain: bigint): void;
}

/**
 * Asks every endpoint for its chain id (EIP-695). One that serves the expected chain is enough: those that serve
 * another, and those that do not answer, are left out of the count. Where nothing is expected, those that answer have
 * to agree, for nobody can tell which of them is right.
 * @throws AppError `PROVIDER_FAILED`
 */
export async function readChainId(network: Network, rpc: RpcClient, question: IdentityQuestion): Promise<bigint> {
  const { expected, onServed } = question;
  const hosts = network.rpcUrls.filter(({ weight }) => weight > 0).map(({ url }) => new URL(url).host);
  const served: { host: string; chain: bigint }[] = [];
  let reason = 'no endpoint is switched on';
  for (const [index, answer] of (await rpc.each('eth_chainId', [])).entries()) {
    const host = String(hosts[index]);
    const chain = parsed(answer, quantity);
    if (chain === undefined) {
      reason = answer.status === 'rejected' ? messageOf(answer.reason) : `${host} has no chain id`;
      continue;
    }
    served.push({ host, chain });
    onServed(host, chain);
  }
  const [first] = served;
  if (first === undefined) throw providerFailed(network.name, reason);

  const right = expected ?? first.chain;
  const stray = served.find(({ chain }) => chain !== right);
  const isServed = served.some(({ chain }) => chain === right);
  if (stray === undefined || (expected !== null && isServed)) return right;
  throw providerFailed(network.name, `${stray.host} serves chain ${stray.chain}, not ${right}`);
}

/** Which endpoints are believed, and what they are asked about. */
export interface BalanceOn {
  /** Null believes any. */
  chain: bigint | null;
  address: string;
  /** Less is only told by what all tell. */
  least: bigint | undefined;
}

/**
 * The account's balance in wei by one endpoint that serves the chain. When that one fails, or tells less than the
 * least, all are asked: a node that lags or lies, or is not there, must not make an account poor.
 */
export async function balanceOn(rpc: RpcClient, { chain, address, least }: BalanceOn): Promise<bigint> {
  const source = chain === null ? rpc : onlyOn(chain, rpc);
  const ask = (read: ReadOne) => balance(read, address);
  const one = source.onOne(ask);
  if (least === undefined) return one;
  const told = await one.catch(() => undefined);
  if (told !== undefined && told >= least) return told;
  return (await figureOfAll(source, ask, 'higher')) ?? one;
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
