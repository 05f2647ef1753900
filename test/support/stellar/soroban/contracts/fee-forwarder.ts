import type { Contract } from '../host.ts';
import { contractError } from '../host-error.ts';
import { read, value } from '../values.ts';

/** More was asked than the user has agreed to. */
const TOO_MUCH = 5001;
const EXPIRED = 5002;

/** Calls a contract for a user who pays the relayer in a token instead of lumens, by one signature for both. */
export const feeForwarder: Contract = {
  functions: {
    forward(host, self, [token, fee, mostFee, expires, target, name, args, user, relayer]) {
      const [tokenAt, payer, payee] = [token, user, relayer].map(read.address) as [string, string, string];
      const [amount, most, until] = [read.i128(fee), read.i128(mostFee), read.u32(expires)];
      const consented = [token, mostFee, expires, target, name, args].map((one) => one ?? value.void());
      host.requireAuth(payer, consented);
      host.requireAuth(payee);
      if (until < host.header.sequence) throw contractError(EXPIRED, 'the consent has expired');
      if (amount > most || amount <= 0n) throw contractError(TOO_MUCH, 'the fee is beyond what was agreed to');
      const here = value.address(self);
      host.call(tokenAt, 'approve', [value.address(payer), here, value.i128(most), value.u32(until)]);
      host.call(tokenAt, 'transfer_from', [here, value.address(payer), value.address(payee), value.i128(amount)]);
      return host.call(read.address(target), read.symbol(name), read.vec(args));
    },
  },
};
