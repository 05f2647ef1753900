import { Address, xdr } from '@stellar/stellar-sdk/base';

/** Reads a consent from base64; undefined for a text that is no consent. */
export function parseAuthorizationEntry(text: string): xdr.SorobanAuthorizationEntry | undefined {
  try {
    const entry = xdr.SorobanAuthorizationEntry.fromXdr(text, 'base64');
    return entry.toXdr('base64') === text ? entry : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The credentials of an address that consents; undefined for the transaction's source, which consents by its signature.
 */
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
export function authorizingAddress(credentials: xdr.SorobanCredentials): string | undefined {
  const given = addressCredentials(credentials);
  return given === undefined ? undefined : Address.fromScAddress(given.address).toString();
}

/** The last ledger that takes a consent; null for the consent of the transaction's source. */
export function lastLedgerOfConsent({ credentials }: xdr.SorobanAuthorizationEntry): bigint | null {
  const given = addressCredentials(credentials);
  return given === undefined ? null : BigInt(given.signatureExpirationLedger);
}

/** The source's consent to the call itself, and to no call below it; undefined where no consent is needed. */
export function consentOf(hostFunction: xdr.HostFunction): xdr.SorobanAuthorizationEntry | undefined {
  const authorized = authorizedFunctionOf(hostFunction);
  if (authorized === undefined) return undefined;
  return new xdr.SorobanAuthorizationEntry({
    credentials: xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
    rootInvocation: new xdr.SorobanAuthorizedInvocation({ function: authorized, subInvocations: [] }),
  });
}

/** What a consent to a call names; undefined where no consent is needed. */
export function authorizedFunctionOf(hostFunction: xdr.HostFunction): xdr.SorobanAuthorizedFunction | undefined {
  switch (hostFunction.type) {
    case 'hostFunctionTypeInvokeContract':
      return xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(hostFunction.invokeContract);
    case 'hostFunctionTypeCreateContract':
      return xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractHostFn(
        hostFunction.createContract,
      );
    case 'hostFunctionTypeCreateContractV2':
      return xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractV2HostFn(
        hostFunction.createContractV2,
      );
    case 'hostFunctionTypeUploadContractWasm':
      return undefined;
    default:
      return hostFunction satisfies never;
  }
}
