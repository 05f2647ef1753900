import { randomBytes } from 'node:crypto';
import { xdr } from '@stellar/stellar-sdk';
import { addressOf, addressXdr } from '../ledger/address.ts';
import type { AccountId } from '../ledger/entry.ts';
import { sha256 } from '../transactions/frame.ts';
import { hostError } from './host-error.ts';
import { InvocationTracker } from './invocation-tracker.ts';
import { SETTINGS } from './settings.ts';
import { ledgerKey, type Storage } from './storage.ts';
import { value } from './values.ts';

/** The signer, and the protection against a second use of the signature. */
interface Credentials {
  readonly kind: 'source' | 'address' | 'address-v2';
  readonly nonce: bigint;
  readonly expires: number;
  readonly signature: xdr.ScVal;
}

interface Grant {
  readonly address: string;
  readonly tracker: InvocationTracker;
  readonly credentials: Credentials;
  isVerified: boolean;
}

/** A simulation records the authorizations that are needed. A ledger accepts only calls that are authorized. */
export type AuthMode =
  | { kind: 'enforcing'; entries: readonly xdr.SorobanAuthorizationEntry[] }
  | { kind: 'recording'; allowsNonRoot: boolean; isUpgraded: boolean };

export interface AuthSurroundings {
  readonly storage: Storage;
  readonly source: AccountId;
  readonly networkId: Buffer;
  /** Has an account or a contract check a signature over a payload. @throws HostError */
  authenticate(address: string, payload: Buffer, signature: xdr.ScVal): void;
}

/** The authorizations along the stack of calls: soroban-env-host's `AuthorizationManager`. */
export class Authorization {
  readonly #mode: AuthMode;
  readonly #surroundings: AuthSurroundings;
  readonly #grants: Grant[];
  #depth = 0;

  constructor(mode: AuthMode, surroundings: AuthSurroundings) {
    this.#mode = mode;
    this.#surroundings = surroundings;
    this.#grants = mode.kind === 'enforcing' ? mode.entries.map((entry) => grantOf(entry, surroundings.source)) : [];
  }

  push(): void {
    this.#depth += 1;
    for (const { tracker } of this.#grants) tracker.push();
  }

  pop(): void {
    this.#depth -= 1;
    for (const { tracker } of this.#grants) tracker.pop();
  }

  /**
   * Requires an address's authorization of a call.
   * @param invoker the contract that made the call, which thereby authorizes it.
   * @throws HostError
   */
  require(address: string, asked: xdr.SorobanAuthorizedFunction, invoker: string | undefined): void {
    if (address === invoker) return;
    if (this.#mode.kind === 'enforcing') this.#enforce(address, asked);
    else this.#record(address, asked, this.#mode);
  }

  #enforce(address: string, asked: xdr.SorobanAuthorizedFunction): void {
    const own = this.#grants.filter((grant) => grant.address === address);
    const isUnderWay = own.some(({ tracker }) => tracker.isActive && !tracker.isFrameMatched);
    for (const grant of own) {
      if (!grant.tracker.match(asked, !isUnderWay)) continue;
      if (!grant.isVerified) this.#verify(grant);
      grant.isVerified = true;
      return;
    }
    throw hostError('Auth', 'InvalidAction', 'Unauthorized function call for address', value.address(address));
  }

  #verify({ address, credentials, tracker }: Grant): void {
    if (credentials.kind === 'source') return;
    const { storage, networkId } = this.#surroundings;
    const payload = payloadOf(address, credentials, tracker.toXdr(), networkId);
    this.#surroundings.authenticate(address, payload, credentials.signature);
    const { ledger } = storage.state;
    if (ledger > credentials.expires) {
      const data = [value.address(address), value.u32(ledger), value.u32(credentials.expires)];
      throw hostError('Auth', 'InvalidInput', 'signature has expired', ...data);
    }
    const latest = ledger + SETTINGS.life.most - 1;
    if (credentials.expires > latest) {
      const data = [value.address(address), value.u32(latest), value.u32(credentials.expires)];
      throw hostError('Auth', 'InvalidInput', 'signature expiration is too late', ...data);
    }
    this.#consume(address, credentials.nonce, credentials.expires);
  }

  /** Consumes a nonce. A nonce can be used once, and is stored until its signature has expired. */
  #consume(address: string, nonce: bigint, until: number): void {
    const { storage } = this.#surroundings;
    const key = xdr.ScVal.scvLedgerKeyNonce(new xdr.ScNonceKey({ nonce }));
    if (storage.data(address, key, 'temporary') !== undefined) {
      throw hostError('Auth', 'ExistingValue', 'nonce already exists for address', value.address(address));
    }
    storage.putData(address, key, 'temporary', value.void(), until);
  }

  #record(
    address: string,
    asked: xdr.SorobanAuthorizedFunction,
    { allowsNonRoot, isUpgraded }: Extract<AuthMode, { kind: 'recording' }>,
  ): void {
    const own = this.#grants.filter((grant) => grant.address === address);
    const active = own.find(({ tracker }) => tracker.hasMatchInStack && !tracker.isFrameMatched);
    if (active !== undefined) {
      active.tracker.record(asked);
      return;
    }
    if (!allowsNonRoot && this.#depth !== 1) {
      const words =
        '[recording authorization only] encountered authorization not tied to the root contract invocation for an ' +
        'address. Use `require_auth()` in the top invocation or enable non-root authorization.';
      throw hostError('Auth', 'InvalidAction', words, value.address(address));
    }
    const isSource = address === this.#surroundings.source;
    const nonce = isSource ? 0n : randomBytes(8).readBigUInt64BE() >> 1n;
    if (!isSource) {
      this.#consume(address, nonce, this.#surroundings.storage.state.ledger + SETTINGS.life.most - 1);
      // The later check of the signature reads the account's signers, or the contract.
      const isAccount = address.startsWith('G');
      this.#surroundings.storage.get(isAccount ? ledgerKey.account(address) : ledgerKey.instance(address));
    }
    const kind = isSource ? 'source' : isUpgraded ? 'address-v2' : 'address';
    const tracker = InvocationTracker.recording(asked, this.#depth);
    const credentials = { kind, nonce, expires: 0, signature: value.void() } as const;
    this.#grants.push({ address, tracker, credentials, isVerified: true });
  }

  /** The authorizations that a simulation has recorded, unsigned. */
  recorded(): xdr.SorobanAuthorizationEntry[] {
    return this.#grants.map(
      ({ address, tracker, credentials }) =>
        new xdr.SorobanAuthorizationEntry({
          credentials: credentialsXdr(address, credentials),
          rootInvocation: tracker.toXdr(),
        }),
    );
  }
}

/**
 * The bytes that an address signs. The newer form names the address. So a second address with the same key cannot use
 * the signature.
 */
function payloadOf(
  address: string,
  { kind, nonce, expires }: Credentials,
  invocation: xdr.SorobanAuthorizedInvocation,
  networkId: Buffer,
): Buffer {
  const common = { networkId, nonce, signatureExpirationLedger: expires, invocation };
  const preimage =
    kind === 'address-v2'
      ? xdr.HashIdPreimage.envelopeTypeSorobanAuthorizationWithAddress(
          new xdr.HashIdPreimageSorobanAuthorizationWithAddress({ ...common, address: addressXdr(address) }),
        )
      : xdr.HashIdPreimage.envelopeTypeSorobanAuthorization(new xdr.HashIdPreimageSorobanAuthorization(common));
  return sha256(preimage.toXdr());
}

function grantOf({ credentials, rootInvocation }: xdr.SorobanAuthorizationEntry, source: AccountId): Grant {
  const tracker = InvocationTracker.of(rootInvocation);
  if (credentials.type === 'sorobanCredentialsSourceAccount') {
    const own = { kind: 'source', nonce: 0n, expires: 0, signature: value.void() } as const;
    return { address: source, tracker, credentials: own, isVerified: false };
  }
  if (credentials.type === 'sorobanCredentialsAddressWithDelegates') {
    throw new Error('The Stellar network of the tests has no delegated signatures.');
  }
  const isNew = credentials.type === 'sorobanCredentialsAddressV2';
  const { address, nonce, signatureExpirationLedger, signature } = isNew ? credentials.addressV2 : credentials.address;
  const kind = isNew ? 'address-v2' : 'address';
  const given = { kind, nonce, expires: signatureExpirationLedger, signature } as const;
  return { address: addressOf(address), tracker, credentials: given, isVerified: false };
}

function credentialsXdr(address: string, { kind, nonce, expires, signature }: Credentials): xdr.SorobanCredentials {
  if (kind === 'source') return xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  const given = new xdr.SorobanAddressCredentials({
    address: addressXdr(address),
    nonce,
    signatureExpirationLedger: expires,
    signature,
  });
  return kind === 'address'
    ? xdr.SorobanCredentials.sorobanCredentialsAddress(given)
    : xdr.SorobanCredentials.sorobanCredentialsAddressV2(given);
}
