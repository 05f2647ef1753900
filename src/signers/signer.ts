import type { z } from 'zod';
import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { HttpClient } from '../egress/http-client.ts';

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
  /** The curves that it can have keys on. A relayer whose network signs on another is a problem of the configuration. */
  readonly curves: readonly Curve[];
  /** Those that one signer has its key on, where its configuration says it: by what answers show of that. */
  curvesOf?(shown: Config): readonly Curve[];
  /** Families on these curves that it cannot sign for all the same, each with the reason. */
  readonly notFor?: Partial<Record<NetworkType, string>>;
  readonly configSchema: z.ZodType<Config>;
  /** Where its key is, if in a file of this machine. */
  fileOf?(config: Config): string;
  /**
   * Fields that only the operator's files have: where a credential of the machine itself would be sent to, and which of
   * its files is read.
   */
  readonly ofFilesOnly?: readonly string[];
  /** Secret in a file, and shown by the reference, whose clients know their keys by them. */
  readonly shownAllTheSame?: readonly string[];
  /** Variables that it looks into by itself, without being named in its configuration. No plugin is granted them. */
  readonly variables?: readonly string[];
  /** The longest that one question may take, in milliseconds; null where nobody outside this process is asked. */
  readonly limitMs: number | null;
  /**
   * Opens the signer. A wrong secret or a missing file is an error that says so; which signer it is, is added.
   * What is opened verifies its signatures, and leaves limits, counting and clean errors to `guarded-signer.ts`.
   */
  create(id: string, config: Config, tools: KindTools): Promise<Signer>;
}

/** What kinds work with. */
export interface SignerTools {
  secrets: SecretResolver;
  http: Pick<HttpClient, 'get' | 'post'>;
  clock: Clock;
  /** From 0 to below 1; spreads out what is tried again. */
  random: () => number;
  metrics: SignerMetrics;
  keys: KeyKeeper;
}

/** What one signer is made with. */
export interface KindTools extends SignerTools {
  /** Its configuration once more: what has a key in it is read again when that is needed, and not kept. */
  reread(): Promise<unknown>;
}

/** Has the keys that are in this process, and signs with them. Nobody else has any. */
export interface KeyKeeper {
  /**
   * @param material asked for now, and again whenever what had the key is gone; the keeper wipes it
   * @throws Error that says why there is no key, and shows nothing of it
   */
  open(id: string, material: () => Promise<KeyMaterial>): Promise<Signer>;
}

/** What a key is opened from. The bytes stand in a buffer of their own. */
export type KeyMaterial =
  | { kind: 'key'; bytes: Uint8Array }
  | { kind: 'keystore'; path: string; passphrase: Uint8Array };

/** Where the questions to signers are counted. */
export interface SignerMetrics {
  asked(question: { signer: string; type: string; outcome: 'ok' | 'failed'; seconds: number }): void;
}

/** Reads a secret value `{ type: "env" | "plain", value }` of the configuration. */
export type SecretResolver = (secret: { type: 'env' | 'plain'; value: string }) => string;
