import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { HttpClient } from '../egress/http-client.ts';
import type { Metrics } from '../observability/metrics.ts';

/** A secret value of a signer's configuration; unknown keys beside the two are ignored, as the reference does. */
export const secretSchema = z.object({
  type: z
    .enum(['env', 'plain'], { error: 'a secret has the type "env" or "plain"' })
    .describe('env: value is the name of a variable; plain: value is the secret'),
  value: z
    .string()
    .min(1, 'a secret must not be empty')
    .describe('Name of the environment variable, or the secret itself'),
});

/** The value of a variable that a signer kind reads by itself; undefined when it is not set. */
export function readVariable(secrets: SecretResolver, name: string): string | undefined {
  try {
    return secrets({ type: 'env', value: name });
  } catch {
    return undefined;
  }
}

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
   * secp256k1: `payload` is a 32-byte digest; returns 65 bytes `r ‖ s ‖ recovery`, low s (EIP-2), recovery 0 or 1.
   * ed25519: `payload` is the message; returns 64 bytes (RFC 8032).
   * @throws AppError `SIGNER_FAILED`
   */
  sign(curve: Curve, payload: Uint8Array): Promise<Uint8Array>;
  /**
   * ed25519: signs the UTF-8 bytes of a text. Only where the service that has the key signs texts as they are, and no
   * bytes of a caller's making.
   * @throws AppError `SIGNER_FAILED`
   */
  signText?(text: string): Promise<Uint8Array>;
  /** Wipes keys where that is possible, and closes connections. */
  close(): Promise<void>;
}

/** One kind of signer, as the configuration file names it in `type`. */
export interface SignerKind<Config = unknown> {
  readonly type: string;
  /**
   * The curves that a signer of this kind can have keys on. A relayer whose network signs on another curve is a
   * configuration error.
   */
  readonly curves: readonly Curve[];
  /** The curves of one signer's key, when its configuration tells. `shown`: the configuration as answers show it. */
  curvesOf?(shown: Config): readonly Curve[];
  /** Network types on these curves for which the signer still cannot sign, each with the reason. */
  readonly notFor?: Partial<Record<NetworkType, string>>;
  readonly configSchema: z.ZodType<Config>;
  /** The path of its key, if that is a file of this machine. */
  fileOf?(config: Config): string;
  /**
   * Fields that only the operator's files may set. They decide where a credential of the machine itself is sent, and
   * which of its files is read.
   */
  readonly ofFilesOnly?: readonly string[];
  /**
   * What a signer of this configuration would use of the server's own identity at a cloud, for a message; undefined when
   * the configuration brings its credentials along. Clients may make such a signer only where the operator allows it.
   */
  serverIdentity?(config: Config): string | undefined;
  /**
   * Fields that are secret in a file but shown in answers. The reference shows them: its clients know their keys by
   * them.
   */
  readonly shownAllTheSame?: readonly string[];
  /** Variables that it reads without being told to by its configuration. No plugin is granted them. */
  readonly variables?: readonly string[];
  /** The longest that one request may take, in milliseconds. Null when it asks nothing outside this process. */
  readonly limitMs: number | null;
  /**
   * Opens the signer. The error for a wrong secret or a missing file says so; the caller adds the signer's id. The
   * opened signer verifies its signatures. `guarded-signer.ts` adds limits, counting and errors without secrets.
   */
  create(id: string, config: Config, tools: KindTools): Promise<Signer>;
}

/** The tools of all signer kinds. */
export interface SignerTools {
  secrets: SecretResolver;
  http: Pick<HttpClient, 'get' | 'post'>;
  /** Asks the machine itself for tokens of its identity, at addresses that only the environment names. */
  identity: Pick<HttpClient, 'get' | 'post'>;
  clock: Clock;
  /** Returns a number from 0 to below 1, which spreads out retries. */
  random: () => number;
  metrics: Metrics;
  keys: KeyHolder;
}

/** The tools for one signer. */
export interface KindTools extends SignerTools {
  /**
   * Reads its configuration again. A configuration with a key in it is not kept, but read again when the key is needed.
   */
  reread(): Promise<unknown>;
}

/** Holds all keys that are in this process, and signs with them. No other part of the process has a key. */
export interface KeyHolder {
  /**
   * Opens a key.
   * @param material called now, and again whenever the holder of the key is gone; the holder wipes the result
   * @throws Error that says why there is no key, and shows nothing of it
   */
  open(id: string, material: () => Promise<KeySource>): Promise<Signer>;
}

/** The source from which a key is opened. Its bytes have a buffer of their own. */
export type KeySource = { kind: 'key'; bytes: Uint8Array } | { kind: 'keystore'; path: string; passphrase: Uint8Array };

/** Reads a secret value `{ type: "env" | "plain", value }` of the configuration. */
export type SecretResolver = (secret: { type: 'env' | 'plain'; value: string }) => string;
