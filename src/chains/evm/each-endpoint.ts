import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../domain/json.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc-client.ts';
import { onlyOn, quantity } from './provider.ts';

/** A node that hangs must not hold up what only wants a second word: without it, there is that of one node. */
const ALL_WITHIN_MS = 3_000;

/**
 * What the same reads say on each endpoint, of those that say meanwhile that they serve the chain. Those that do not
 * answer, or answer with nonsense, are left out; nothing at all when not all have answered or failed in time.
 */
export async function onEach<T>(
  chain: bigint,
  rpc: Pick<RpcClient, 'each'>,
  use: (read: ReadOne) => Promise<T>,
  withinMs = ALL_WITHIN_MS,
): Promise<T[]> {
  const late = sleep(withinMs, [], { ref: false });
  return Promise.race([askEach(chain, rpc, use), late]);
}

/**
 * The same, where those that have answered in time count without the others: what most of them agree on is not undone by
 * one that hangs.
 */
export async function onEachInTime<T>(
  chain: bigint,
  rpc: RpcClient,
  use: (read: ReadOne) => Promise<T>,
  withinMs = ALL_WITHIN_MS,
): Promise<T[]> {
  const asked = onlyOn(chain, rpc).onAll(use);
  const told: (readonly T[])[] = asked.map(() => []);
  const noted = asked.map(async (one, place) => {
    told[place] = [await one];
  });
  await Promise.race([Promise.allSettled(noted), sleep(withinMs, undefined, { ref: false })]);
  return told.flatMap((one) => one);
}

async function askEach<T>(
  chain: bigint,
  rpc: Pick<RpcClient, 'each'>,
  use: (read: ReadOne) => Promise<T>,
): Promise<T[]> {
  const asked = new Map<string, Promise<PromiseSettledResult<Json>[]>>();

  /** One call to each endpoint serves the readers of all. */
  function answersTo(method: string, params: Json): Promise<PromiseSettledResult<Json>[]> {
    const key = JSON.stringify([method, params]);
    const answers = asked.get(key) ?? rpc.each(method, params);
    asked.set(key, answers);
    return answers;
  }

  function readerOf(index: number): ReadOne {
    return async (method, params, parse) => {
      const answer = (await answersTo(method, params))[index];
      if (answer?.status !== 'fulfilled') throw answer?.reason;
      return parse(answer.value);
    };
  }

  const endpoints = await answersTo('eth_chainId', []);
  const told = await Promise.allSettled(
    endpoints.map(async (_, index) => {
      const read = readerOf(index);
      const served = await read('eth_chainId', [], quantity);
      return served === chain ? [await use(read)] : [];
    }),
  );
  return told.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}
