import { Account, FeeBumpTransaction, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import type { StellarEndpoint, StellarNet } from '../../../../doubles/stellar/stellar-net.ts';
import type { Stranger } from '../chain.ts';
import { pass } from '../pass.ts';
import type { StellarRelayer } from './plan.ts';
import { sequenceOf } from './sequence-of.ts';

/** A stranger that has the keys of the relayers' accounts. */
export interface KeyThief extends Stranger {
  /** Hashes of its own transactions that the node accepted, without the users' ones that it passes on. */
  readonly hashes: ReadonlySet<string>;
}

const PAUSE_MS = [1_000, 6_000] as const;
/** The share of turns that consume a relayer's sequence. The others send a user's transaction without its fee bump. */
const THEFTS = 0.4;

export interface Loot {
  relayers: readonly StellarRelayer[];
  net: Pick<StellarNet, 'takenIn' | 'passphrase'>;
}

/** At random times consumes a relayer's next sequence, or sends a user's transaction without its fee bump. */
export function startStranger(node: StellarEndpoint, random: () => number, { relayers, net }: Loot): KeyThief {
  const stopped = new AbortController();
  const hashes = new Set<string>();
  let sent = 0;

  const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];

  async function offer(transaction: string): Promise<string | undefined> {
    const answer = (await node.rpc('sendTransaction', { transaction })) as { status: string; hash: string };
    if (answer.status !== 'PENDING') return undefined;
    sent += 1;
    return answer.hash;
  }

  async function steal(): Promise<void> {
    const relayer = oneOf(relayers);
    if (relayer === undefined) return;
    const { key } = relayer;
    const account = new Account(key.publicKey(), String(await sequenceOf(node, key.publicKey())));
    const transaction = new TransactionBuilder(account, { fee: '300000', networkPassphrase: net.passphrase })
      .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
      .setTimeout(30)
      .build();
    transaction.sign(key);
    const hash = await offer(transaction.toXdr());
    if (hash !== undefined) hashes.add(hash);
  }

  async function send(): Promise<void> {
    if (random() < THEFTS) return steal();
    const read = (await net.takenIn()).map((text) => TransactionBuilder.fromXdr(text, net.passphrase));
    const bump = oneOf(read.filter((one) => one instanceof FeeBumpTransaction));
    if (bump !== undefined) await offer(bump.innerTransaction.toXdr());
  }

  async function go(): Promise<void> {
    while (await pass(PAUSE_MS[0] + random() * (PAUSE_MS[1] - PAUSE_MS[0]), stopped.signal)) {
      await send().catch(() => undefined);
    }
  }

  const going = go();
  return {
    hashes,
    get sent() {
      return sent;
    },
    async stop() {
      stopped.abort();
      await going;
    },
  };
}
