import { Transaction } from 'ethers';
import type { Anvil } from './anvil.ts';
import { type DoubleAnswer, type DoubleCall, startRpcDouble } from './rpc-double.ts';

/** The only endpoint of a node. A test can make it fail, forget or lie. */
export interface NodeFront {
  readonly url: string;
  /** Every transaction offered, in the order of arrival, whatever its outcome. */
  readonly offers: readonly Offer[];
  /** How often a method was called. */
  calls(method: string): number;
  /** Sets a rule that all calls go through. Without a rule, calls go to the node. */
  rule(rule?: FrontRule): void;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

export interface Offer {
  readonly raw: string;
  readonly hash: string;
  readonly nonce: number;
  /** In lower case; null creates a contract. */
  readonly to: string | null;
  readonly value: bigint;
}

/**
 * Answers a call; undefined passes it on to the node. `pass` asks the node, for rules that let the node act and then
 * answer something else.
 */
export type FrontRule = (
  call: DoubleCall,
  pass: () => Promise<DoubleAnswer>,
) => DoubleAnswer | undefined | Promise<DoubleAnswer | undefined>;

const SEND = 'eth_sendRawTransaction';

/** Starts it on loopback. Offers reach the node one after the other, in the order in which they came. */
export async function startNodeFront(anvil: Pick<Anvil, 'rpc'>): Promise<NodeFront> {
  const offers: Offer[] = [];
  let rule: FrontRule = () => undefined;
  let line: Promise<unknown> = Promise.resolve();

  async function answer(call: DoubleCall): Promise<DoubleAnswer> {
    const pass = () => askNode(anvil, call);
    return (await rule(call, pass)) ?? pass();
  }

  const double = await startRpcDouble((call) => {
    if (call.method !== SEND) return answer(call);
    offers.push(offerOf(String(call.params[0])));
    const answered = line.then(() => answer(call));
    line = answered.catch(() => {});
    return answered;
  });
  return {
    url: double.url,
    offers,
    calls: (method) => double.calls.filter((call) => call.method === method).length,
    rule(next = () => undefined) {
      rule = next;
    },
    stop: double.stop,
  };
}

/** A rule that answers no call, as in an outage of the endpoint, or none of the given methods. */
export function outage(...methods: readonly string[]): FrontRule {
  return ({ method }) => (methods.length === 0 || methods.includes(method) ? 'hang-up' : undefined);
}

/** A rule that puts another node in place of the node behind the front. */
export function insteadOf(anvil: Pick<Anvil, 'rpc'>): FrontRule {
  return (call) => askNode(anvil, call);
}

/** A rule for a node that keeps no transaction above an account's next nonce, as several clients do by default. */
export function strictNode(anvil: Pick<Anvil, 'rpc'>): FrontRule {
  return async ({ method, params }) => {
    if (method !== SEND) return undefined;
    const { nonce, from } = Transaction.from(String(params[0]));
    const next = Number(await anvil.rpc('eth_getTransactionCount', [from, 'pending']));
    if (nonce <= next) return undefined;
    return { error: { code: -32_000, message: `nonce too high: next nonce ${next}, tx nonce ${nonce}` } };
  };
}

async function askNode(anvil: Pick<Anvil, 'rpc'>, { method, params }: DoubleCall): Promise<DoubleAnswer> {
  try {
    return { result: await anvil.rpc(method, params) };
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(`${method}: `, '') : String(error);
    return { error: { code: -32_000, message } };
  }
}

function offerOf(raw: string): Offer {
  const { hash, nonce, to, value } = Transaction.from(raw);
  return { raw, hash: String(hash), nonce, to: to?.toLowerCase() ?? null, value };
}
