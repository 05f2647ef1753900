import type { Contract } from '../host.ts';
import { contractError } from '../host-error.ts';
import { read, value } from '../values.ts';

const COUNT = value.symbol('COUNT');

/** Does what tests want to see: counts, calls on, fails and wastes. */
export const probe: Contract = {
  functions: {
    /** Reads only. */
    count: (host, self) => host.storage.data(self, COUNT, 'persistent') ?? value.u32(0),
    /** Counts for somebody who agrees. */
    add(host, self, [who, by]) {
      host.requireAuth(read.address(who));
      host.charge();
      const now = read.u32(host.storage.data(self, COUNT, 'persistent') ?? value.u32(0)) + read.u32(by);
      host.storage.putData(self, COUNT, 'persistent', value.u32(now));
      host.emit([value.symbol('added'), who ?? value.void()], value.u32(now));
      return value.u32(now);
    },
    /** Calls another contract for somebody who agrees to both. */
    call(host, _self, [who, contract, name, args]) {
      host.requireAuth(read.address(who));
      return host.call(read.address(contract), read.symbol(name), read.vec(args));
    },
    fail(_host, _self, [code]) {
      throw contractError(read.u32(code), 'escalating error to panic');
    },
    /** So many instructions more. */
    waste(host, _self, [instructions]) {
      host.instructions += read.u32(instructions);
      return value.void();
    },
  },
};
