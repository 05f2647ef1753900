import type { Svm } from '../../../test/support/svm.ts';
import type { Weather } from '../chain.ts';
import { pass } from '../pass.ts';

/** How many blocks make one final: the weather takes less back. */
export const FINALIZED_AFTER = 32;

type Range = readonly [least: number, most: number];

const CHANGE_MS: Range = [600, 2_500];
const FORK_BLOCKS: Range = [1, 24];
const SKIPPED_SLOTS: Range = [1, 40];
const DROPPED: Range = [1, 30];
const LATE_BLOCKS: Range = [1, 80];
const LATE_MS: Range = [500, 3_000];
const STILL_MS: Range = [500, 3_000];
const DROUGHT_MS: Range = [300, 1_500];
/** Of priority, in micro-lamports per compute unit. */
const HIGHEST_PRICE = 2_000_000;
const EVERYTHING = 1_000_000;

/** How likely each is. */
const LIKELY = {
  fork: 0.3,
  'slots skipped': 0.13,
  dropped: 0.16,
  late: 0.13,
  stillness: 0.08,
  price: 0.12,
  drought: 0.08,
};

type Change = keyof typeof LIKELY;

export interface WeatherOptions {
  /** Whether it changes at all. */
  changes: boolean;
  /** In [0, 1). */
  random(): number;
}

/** Starts the weather over an SVM: forks that lose, slots without a block, transactions that are lost or land late. */
export function startWeather(svm: Svm, { changes, random }: WeatherOptions): Weather {
  const fair = new AbortController();
  const counts = new Map<string, number>();
  const between = ([least, most]: Range) => least + random() * (most - least);
  const some = (range: Range) => Math.round(between(range));

  const kinds: Record<Change, () => Promise<unknown>> = {
    fork: () => svm.fork(some(FORK_BLOCKS), { again: random() < 0.5 }),
    'slots skipped': () => svm.skipSlots(some(SKIPPED_SLOTS)),
    dropped: () => svm.dropNext(some(DROPPED)),
    async late() {
      await svm.landLater(some(LATE_BLOCKS));
      await pass(between(LATE_MS), fair.signal);
      await svm.landLater(0);
    },
    async stillness() {
      await svm.pause();
      await pass(between(STILL_MS), fair.signal);
      await svm.resume();
    },
    price: () => svm.setPrioritizationFee(some([0, HIGHEST_PRICE])),
    // What nobody has in a block by then has no blockhash any more.
    async drought() {
      await svm.dropNext(EVERYTHING);
      await pass(between(DROUGHT_MS), fair.signal);
      await svm.expireBlockhashes();
      await svm.dropNext(0);
    },
  };

  async function change(): Promise<void> {
    while (await pass(between(CHANGE_MS), fair.signal)) {
      const kind = kindOf(random());
      // As after a fork the chain is shorter, so deep a one may not be possible again.
      const happened = await kinds[kind]().then(
        () => true,
        () => kind !== 'fork',
      );
      if (happened) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }

  const changing = changes ? change() : Promise.resolve();
  const clear = async () => {
    fair.abort();
    await changing;
    if (changes) await svm.dropNext(0);
  };
  return { counts, clear, stop: clear };
}

function kindOf(unit: number): Change {
  let bound = 0;
  const found = (Object.keys(LIKELY) as Change[]).find((kind) => {
    bound += LIKELY[kind];
    return unit < bound;
  });
  return found ?? 'fork';
}
