import type { StellarNet } from '../../../../doubles/stellar/stellar-net.ts';
import type { FaultSchedule } from '../chain.ts';
import { type FaultScheduleOptions, type Range, startChanges } from '../fault-schedule.ts';

const CHANGE_MS: Range = [1_500, 6_000];
const DROPPED: Range = [1, 12];
const LATE_LEDGERS: Range = [1, 8];
const LATE_MS: Range = [2_000, 6_000];
const STILL_MS: Range = [1_500, 5_000];
const CROWD_MS: Range = [2_000, 8_000];
/** The number of competing operations, more than a ledger takes, and the range of their bids in stroops. */
const CROWD = 1_100;
const BIDS: Range = [100, 50_000];

/** Starts the schedule of faults over a Stellar network: transactions that are lost or late, ledgers that do not close, surges. */
export function startFaultSchedule(net: StellarNet, options: FaultScheduleOptions): FaultSchedule {
  const faultSchedule = startChanges(options, CHANGE_MS, {
    dropped: { likely: 0.35, happen: ({ some }) => net.dropNext(some(DROPPED)) },
    late: {
      likely: 0.25,
      async happen({ some, wait }) {
        await net.landLater(some(LATE_LEDGERS));
        await wait(LATE_MS);
        await net.landLater(0);
      },
    },
    stillness: {
      likely: 0.15,
      async happen({ wait }) {
        await net.pause();
        await wait(STILL_MS);
        await net.resume();
      },
    },
    crowd: {
      likely: 0.25,
      async happen({ some, wait }) {
        await net.crowd(CROWD, BigInt(some(BIDS)));
        await wait(CROWD_MS);
        await net.crowd(0);
      },
    },
  });
  const clear = async () => {
    await faultSchedule.clear();
    if (options.changes) await net.dropNext(0);
  };
  return { ...faultSchedule, clear, stop: clear };
}
