import { Account, FeeBumpTransaction, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import type { StellarEndpoint, StellarNet } from '../../../test/support/stellar-net.ts';
import type { Stranger } from '../chain.ts';
import { pass } from '../pass.ts';
import type { StellarRelayer } from './plan.ts';
import { sequenceOf } from './sequence-of.ts';

/** Somebody else who sends with the accounts' keys. */
export interface KeyThief extends Stranger {
  /** Hashes of what the node took. */
  readonly hashes: ReadonlySet<string>;
}

const PAUSE_MS = [1_000, 6_000] as const;
/** What share is a sequence of a relayer that is taken; the rest are users' bytes, without the fee bump. */
const THEFTS = 0.4;

export interface Loot {
  relayers: readonly StellarRelayer[];
  net: Pick<StellarNet, 'takenIn' | 'passphrase'>;
}

/** Now and then takes the next sequence of an account, or sends what a relayer has bumped without its fee bump. */
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
