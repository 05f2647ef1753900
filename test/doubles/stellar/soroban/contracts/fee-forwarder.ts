import type { Contract } from '../host.ts';
import { contractError } from '../host-error.ts';
import { read, value } from '../values.ts';

/** `FeeAbstractionError::InvalidFeeBounds` of OpenZeppelin's stellar-contracts. */
const INVALID_FEE_BOUNDS = 5003;

/**
 * Calls a contract for a user who pays the relayer in a token instead of lumens. One signature authorizes both. Like
 * OpenZeppelin's forwarder without access control, it approves the fee in each call.
 */
export const feeForwarder: Contract = {
  functions: {
    forward(host, self, [token, fee, mostFee, expires, target, name, args, user, relayer]) {
      const [tokenAt, payer, payee] = [token, user, relayer].map(read.address) as [string, string, string];
      const [amount, most, until] = [read.i128(fee), read.i128(mostFee), read.u32(expires)];
      host.requireAuth(payee);
      const consented = [token, mostFee, expires, target, name, args].map((one) => one ?? value.void());
      host.requireAuth(payer, consented);
      if (amount > most || amount <= 0n) throw contractError(INVALID_FEE_BOUNDS, 'escalating error to panic');
      const [here, from, to] = [value.address(self), value.address(payer), value.address(payee)];
      host.call(tokenAt, 'approve', [from, here, value.i128(most), value.u32(until)]);
      host.call(tokenAt, 'transfer_from', [here, from, to, value.i128(amount)]);
      const paid = value.struct({ token: value.address(tokenAt), amount: value.i128(amount) });
      host.emit([value.symbol('fee_collected'), from, to], paid);
      const returned = host.call(read.address(target), read.symbol(name), read.vec(args));
      const called = value.struct({ target_fn: name ?? value.void(), target_args: args ?? value.void() });
      host.emit([value.symbol('forward_executed'), from, target ?? value.void()], called);
      return returned;
    },
  },
};
