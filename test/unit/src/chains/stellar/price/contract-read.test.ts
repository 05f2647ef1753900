import { xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { callOf } from '../../../../../../src/chains/stellar/message/forward.ts';
import { readContract } from '../../../../../../src/chains/stellar/price/contract-read.ts';
import { TARGET } from '../../../../../support/stellar-forwards.ts';
import { ran, simulating } from '../../../../../support/stellar-simulation.ts';

const asked = (told: Parameters<typeof simulating>[0]['calls']) =>
  readContract(simulating({ calls: told }), callOf(TARGET, 'count', []));

t.test('what a function gives is read, and nothing of one that fails', async (t) => {
  t.match(await asked({ count: ran([], xdr.ScVal.scvU32(7)) }), { type: 'scvU32', u32: 7 });
  t.equal(await asked({}), undefined);
  t.equal(await asked({ count: { ...ran(), results: null } }), undefined);
});
