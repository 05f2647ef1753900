import { StoreUnavailable } from '../../src/domain/errors.ts';
import type { Attempt } from '../../src/features/transactions/records/attempt.ts';
import type { Store, StoreWriter } from '../../src/store/store.ts';

/** A commit whose answer may get lost. */
export interface Commit {
  attempts: readonly Attempt[];
  /** The other writes, by the writer's method. */
  writes: ReadonlySet<string>;
}

/** A store in which some commits happen and still end with an error, as when the connection breaks during COMMIT. */
export function losingAnswers(store: Store, isLost: (commit: Commit) => boolean): Store {
  return {
    ...store,
    async writeUnder(lease, body) {
      let commit: { attempts: Attempt[]; writes: Set<string> } = { attempts: [], writes: new Set() };
      const result = await store.writeUnder(lease, (writer) => {
        commit = { attempts: [], writes: new Set() };
        return body(watched(writer, commit));
      });
      if (isLost(commit)) throw new StoreUnavailable('The database does not answer');
      return result;
    },
  };
}

function watched(writer: StoreWriter, commit: { attempts: Attempt[]; writes: Set<string> }): StoreWriter {
  return new Proxy(writer, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        commit.writes.add(String(name));
        if (name === 'insertAttempt') commit.attempts.push(args[0] as Attempt);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}
