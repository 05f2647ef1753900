import type { BroadcastOutcome, ChainClient, ObservedTransaction } from '../../../src/chains/chain-client.ts';
import { messageOf } from '../../../src/domain/errors.ts';
import type { Attempt } from '../../../src/features/transactions/records/attempt.ts';
import type { Store, StoreWriter } from '../../../src/store/store.ts';
import type { Mutant } from './world.ts';

/** Treats bytes that one node refused as refused by all nodes for ever. */
const believesOneRefusal: Mutant = {
  name: 'one lying refusal is believed at once',
  showsIn: ['lies'],
  client(client) {
    const believed = new Map<string, BroadcastOutcome>();
    return changed(client, {
      async broadcast(attempts: readonly Attempt[]) {
        const outcomes = await client.broadcast(attempts);
        return outcomes.map((outcome, index) => {
          const raw = attempts[index]?.raw ?? '';
          if (outcome.kind === 'refused') believed.set(raw, outcome);
          return believed.get(raw) ?? outcome;
        });
      },
    });
  },
};

const failsUnpriced: Mutant = {
  name: 'a lost answer while pricing fails the payment',
  showsIn: ['faults'],
  client: (client) =>
    changed(client, {
      prepare: (...question: Parameters<ChainClient['prepare']>) =>
        client.prepare(...question).catch((error: unknown) => ({ kind: 'refused', reason: messageOf(error) }) as const),
    }),
};

const cancelsAll: Mutant = {
  name: 'canceling one cancels all',
  showsIn: ['cancel'],
  store: (store) =>
    writingOtherwise(store, (writer) => ({
      async insertIntent(intent: Parameters<StoreWriter['insertIntent']>[0]) {
        const position = await writer.insertIntent(intent);
        const one = await writer.transactionOfLane(intent.lane, intent.transactionId);
        const others = intent.action.kind === 'cancel' ? await writer.cancelable(one?.relayerId ?? '') : [];
        for (const { id: transactionId } of others) await writer.insertIntent({ ...intent, transactionId });
        return position;
      },
    })),
};

const refusesWhatItDoes: Mutant = {
  name: 'an intent is answered as refused and carried out',
  showsIn: ['cancel', 'replace'],
  store: (store) =>
    writingOtherwise(store, (writer) => ({
      settleIntent: (position: number, refusal: string | null) => writer.settleIntent(position, refusal ?? 'too late'),
    })),
};

const takesSilenceForUse: Mutant = {
  name: 'what is in no block counts as displaced by somebody else',
  showsIn: [],
  client: (client) =>
    changed(client, {
      async observe(entries: readonly ObservedTransaction[]) {
        const seen = await client.observe(entries);
        const reason = 'consumed externally';
        return seen.map((one) => (one.kind === 'open' ? ({ kind: 'dead', anchor: 'used', reason } as const) : one));
      },
    }),
};

/** Signs transactions again, or ends them, while the first bytes can still execute. */
const buriesTheLiving: Mutant = {
  name: 'a second attempt is made while one lives',
  showsIn: [],
  client: (client) =>
    changed(client, {
      async observe(entries: readonly ObservedTransaction[]) {
        const seen = await client.observe(entries);
        return seen.map((one, index) => {
          const dead = entries[index]?.attempts.map(({ ordinal }) => ordinal) ?? [];
          return one.kind === 'open' ? ({ kind: 'open', dead } as const) : one;
        });
      },
    }),
};

const believesFirstBlock: Mutant = {
  name: 'the first block is final',
  showsIn: ['mine', 'reorganise', 'fork loses', 'foreign use'],
  isWrongIn: ({ hasForks }) => hasForks,
  client: (client) =>
    changed(client, {
      async observe(entries: readonly ObservedTransaction[]) {
        const seen = await client.observe(entries);
        return seen.map((one) => (one.kind === 'included' ? { ...one, final: true } : one));
      },
    }),
};

const overlooksReverts: Mutant = {
  name: 'a revert counts as done',
  showsIn: [],
  client: (client) =>
    changed(client, {
      async observe(entries: readonly ObservedTransaction[]) {
        const seen = await client.observe(entries);
        return seen.map((one) => (one.kind === 'included' ? { ...one, succeeded: true } : one));
      },
    }),
};

/** Engines with one error each, which the judge must find. */
export const mutants: readonly Mutant[] = [
  believesOneRefusal,
  failsUnpriced,
  cancelsAll,
  refusesWhatItDoes,
  takesSilenceForUse,
  buriesTheLiving,
  believesFirstBlock,
  overlooksReverts,
];

/** The same object with other members. */
export function changed<T extends object>(target: T, changes: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(changes, name)) return Reflect.get(changes, name) as unknown;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

/** The same store with other writes. */
export function writingOtherwise(store: Store, changes: (writer: StoreWriter) => Partial<StoreWriter>): Store {
  const other = (writer: StoreWriter) => changed(writer, changes(writer));
  return {
    ...store,
    write: (body) => store.write((writer) => body(other(writer))),
    writeUnder: (lease, body) => store.writeUnder(lease, (writer) => body(other(writer))),
  };
}
