import type { z } from 'zod';

/** The curves that the chains sign on. */
export type Curve = 'secp256k1' | 'ed25519';

/**
 * Something that holds a key and signs bytes with it. It knows curves, not chains: `chains/<chain>/signing.ts` knows
 * what the bytes are. Every signature is verified against the public key before it leaves the signer.
 */
export interface Signer {
  readonly id: string;
  /** secp256k1: 65 bytes, uncompressed (`04 ‖ X ‖ Y`). ed25519: 32 bytes. */
  publicKey(curve: Curve): Promise<Uint8Array>;
  /**
   * secp256k1: `payload` is a 32-byte digest; 65 bytes `r ‖ s ‖ recovery` with low s (EIP-2) and recovery 0 or 1.
   * ed25519: `payload` is the message; 64 bytes (RFC 8032).
   * @throws AppError `SIGNER_FAILED`
   */
  sign(curve: Curve, payload: Uint8Array): Promise<Uint8Array>;
  /** Wipes what can be wiped and closes connections. */
  close(): Promise<void>;
}

/** One kind of signer, as the configuration file names it in `type`. */
export interface SignerKind<Config = unknown> {
  readonly type: string;
  readonly curves: readonly Curve[];
  readonly configSchema: z.ZodType<Config>;
  /** Opens the signer; a wrong secret or a missing file is an error that names the signer and the cause. */
  create(id: string, config: Config, secrets: SecretResolver): Promise<Signer>;
}

/** Reads a secret value `{ type: "env" | "plain", value }` of the configuration. */
export type SecretResolver = (secret: { type: 'env' | 'plain'; value: string }) => string;
