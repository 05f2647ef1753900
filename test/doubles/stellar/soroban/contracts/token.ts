import type { Contract } from '../host.ts';
import { setInstanceValue } from '../instance.ts';
import { value } from '../values.ts';
import { addToKeptBalance, keptBalance } from './contract-balances.ts';
import { tokenFunctions } from './token-functions.ts';

/** A token with all balances in its own storage. The constructor takes the admin, decimals, name and symbol. */
export const token: Contract = {
  functions: {
    ...tokenFunctions({ of: keptBalance, add: addToKeptBalance, issuer: () => undefined }),
    __constructor(host, self, [admin, decimal, name, symbol]) {
      const { storage } = host;
      if (admin === undefined || decimal === undefined || name === undefined || symbol === undefined) {
        throw new Error('A token is built with its admin, decimals, name and symbol.');
      }
      setInstanceValue(storage, self, 'Admin', admin);
      setInstanceValue(storage, self, 'METADATA', value.struct({ decimal, name, symbol }));
      return value.void();
    },
  },
};
