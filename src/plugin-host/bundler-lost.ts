/**
 * Why a build came to no end: the process ended over it, took too much memory or too long, never began to speak, was
 * ended with whoever wanted it, or over another build, which took too long, or what it was made of had changed.
 */
export type LossReason = 'ended' | 'memory' | 'late' | 'unstarted' | 'closed' | 'beside' | 'outdated';

const SAID: Record<LossReason, string> = {
  ended: 'the process of the bundler ended',
  memory: 'the bundler took too much memory',
  late: 'the bundler took too long',
  unstarted: 'the bundler did not start',
  closed: 'the bundler was closed',
  beside: 'the process of the bundler ended over another build',
  outdated: 'the files changed meanwhile',
};

/** A build after which the bundler's process was gone, or had to be ended. */
export class BundlerLost extends Error {
  readonly reason: LossReason;
  /** Whether no other build can have been the cause. */
  readonly wasAlone: boolean;

  constructor(reason: LossReason, wasAlone: boolean) {
    super(SAID[reason]);
    this.reason = reason;
    this.wasAlone = wasAlone;
  }
}
