import type { Instruments } from './instruments.ts';

/** Counts requests to signers. */
export class SignerCounts {
  readonly #seconds;

  constructor(instruments: Instruments) {
    this.#seconds = instruments.histogram('isolayer_signer_request_duration_seconds');
  }

  asked({ seconds, ...labels }: { signer: string; type: string; outcome: string; seconds: number }): void {
    this.#seconds.observe(labels, seconds);
  }
}
