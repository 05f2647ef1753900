import { Address, xdr } from '@stellar/stellar-sdk/base';

/** One consent out of base64; undefined for what is none. */
export function entryIn(text: string): xdr.SorobanAuthorizationEntry | undefined {
  try {
    const entry = xdr.SorobanAuthorizationEntry.fromXdr(text, 'base64');
    return entry.toXdr('base64') === text ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** What an address consents by; undefined for the transaction's source, whose signature gives it. */
export function addressCredentials(credentials: xdr.SorobanCredentials): xdr.SorobanAddressCredentials | undefined {
  switch (credentials.type) {
    case 'sorobanCredentialsSourceAccount':
      return undefined;
    case 'sorobanCredentialsAddress':
      return credentials.address;
    case 'sorobanCredentialsAddressV2':
      return credentials.addressV2;
    case 'sorobanCredentialsAddressWithDelegates':
      return credentials.addressWithDelegates.addressCredentials;
    default:
      return credentials satisfies never;
  }
}

/** Who consents; undefined where that is the source of the operation. */
export function addressIn(credentials: xdr.SorobanCredentials): string | undefined {
  const given = addressCredentials(credentials);
  return given === undefined ? undefined : Address.fromScAddress(given.address).toString();
}

/** The last ledger that takes a consent; null for that of the transaction's source. */
export function lastLedgerOf({ credentials }: xdr.SorobanAuthorizationEntry): bigint | null {
  const given = addressCredentials(credentials);
  return given === undefined ? null : BigInt(given.signatureExpirationLedger);
}
