import type { Svm } from '../../../../doubles/svm/svm.ts';
import type { FaultSchedule } from '../chain.ts';
import { type FaultScheduleOptions, type Range, startChanges } from '../fault-schedule.ts';

/** The number of blocks after which a block is final. The schedule of faults removes fewer. */
export const FINALIZED_AFTER = 32;

const CHANGE_MS: Range = [600, 2_500];
const FORK_BLOCKS: Range = [1, 24];
const SKIPPED_SLOTS: Range = [1, 40];
const DROPPED: Range = [1, 30];
const LATE_BLOCKS: Range = [1, 80];
const LATE_MS: Range = [500, 3_000];
const STILL_MS: Range = [500, 3_000];
const DROUGHT_MS: Range = [300, 1_500];
/** Priority fees of other transactions, in micro-lamports per compute unit. */
const PRICES: Range = [0, 2_000_000];
const EVERYTHING = 1_000_000;

/** Starts the schedule of faults over an SVM: lost forks, slots without a block, transactions that are lost or land late. */
export function startFaultSchedule(svm: Svm, options: FaultScheduleOptions): FaultSchedule {
  const faultSchedule = startChanges(options, CHANGE_MS, {
    fork: {
      likely: 0.3,
      // Fails if too few blocks are not final. An earlier fork may have left fewer.
      happen: ({ some, random }) =>
        svm.fork(some(FORK_BLOCKS), { again: random() < 0.5 }).then(
          () => true,
          () => false,
        ),
    },
    'slots skipped': { likely: 0.13, happen: ({ some }) => svm.skipSlots(some(SKIPPED_SLOTS)) },
    dropped: { likely: 0.16, happen: ({ some }) => svm.dropNext(some(DROPPED)) },
    late: {
      likely: 0.13,
      async happen({ some, wait }) {
        await svm.landLater(some(LATE_BLOCKS));
        await wait(LATE_MS);
        await svm.landLater(0);
      },
    },
    stillness: {
      likely: 0.08,
      async happen({ wait }) {
        await svm.pause();
        await wait(STILL_MS);
        await svm.resume();
      },
    },
    price: { likely: 0.12, happen: ({ some }) => svm.setPrioritizationFee(some(PRICES)) },
    // Drops everything, then lets all blockhashes expire, so that transactions without a block die.
    drought: {
      likely: 0.08,
      async happen({ wait }) {
        await svm.dropNext(EVERYTHING);
        await wait(DROUGHT_MS);
        await svm.expireBlockhashes();
        await svm.dropNext(0);
      },
    },
  });
  const clear = async () => {
    await faultSchedule.clear();
    if (options.changes) await svm.dropNext(0);
  };
  return { ...faultSchedule, clear, stop: clear };
}
