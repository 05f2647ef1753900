import { AppError } from '../../src/domain/errors.ts';
import type { Signer } from '../../src/signers/signer.ts';

/** A signer without a key; a test may let it fail. */
export class FakeSigner implements Signer {
  readonly id = 'signer-1';
  signatures = 0;
  /** Whether the signature with this number, from 1, fails. */
  failsAt: (signature: number) => boolean = () => false;

  async publicKey(): Promise<Uint8Array> {
    return new Uint8Array(65);
  }

  async sign(): Promise<Uint8Array> {
    this.signatures += 1;
    if (this.failsAt(this.signatures)) {
      throw new AppError('SIGNER_FAILED', { id: this.id, reason: 'the vault is sealed' });
    }
    return new Uint8Array(65);
  }

  async close(): Promise<void> {}
}
