/** The network's limits and fees for contracts: the test network's settings, as delivered with stellar-core. */
export const SETTINGS = {
  /** Bounds of one transaction. */
  most: {
    instructions: 400_000_000,
    diskReadBytes: 200_000,
    diskReadEntries: 200,
    writeBytes: 132_096,
    writeEntries: 200,
    footprintEntries: 400,
    keyBytes: 250,
    transactionBytes: 132_096,
    eventBytes: 16_384,
  },
  /** In stroops. */
  fees: {
    per10kInstructions: 7n,
    perDiskReadEntry: 1563n,
    perWriteEntry: 2500n,
    perDiskRead1kb: 447n,
    perWrite1kb: 875n,
    perHistory1kb: 4059n,
    perEvents1kb: 5000n,
    perTransaction1kb: 406n,
    perRent1kb: 1000n,
  },
  /** In ledgers. */
  life: {
    most: 3_110_400,
    leastTemporary: 720,
    leastPersistent: 120_960,
    persistentRentDenominator: 1215n,
    temporaryRentDenominator: 2430n,
  },
} as const;
