import { verifyEd25519 } from '../../transactions/signature-checker.ts';
import type { Contract } from '../host.ts';
import { hostError } from '../host-error.ts';
import { instanceValue, setInstanceValue } from '../instance.ts';
import { read, value } from '../values.ts';

/** A contract account with one key. The constructor takes the key. */
export const wallet: Contract = {
  functions: {
    __constructor(host, self, [key]) {
      setInstanceValue(host.storage, self, 'Key', value.bytes(read.bytes(key)));
      return value.void();
    },
    __check_auth(host, self, [payload, signature]) {
      const key = read.bytes(instanceValue(host.storage, self, 'Key'));
      if (!verifyEd25519(key, read.bytes(payload), read.bytes(signature))) {
        throw hostError('Crypto', 'InvalidInput', 'failed ED25519 verification');
      }
      return value.void();
    },
  },
};
