import { Asset, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/policy.ts';
import { assertUnheld } from '../../../../../../src/chains/stellar/sponsor/holding.ts';
import { envelopeText, OTHER } from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const USD = new Asset('USD', OTHER.publicKey());
const policy = readPolicy({ fee_payment_strategy: 'user', allowed_tokens: [{ asset: `USD:${OTHER.publicKey()}` }] });
const asked = (count: number, held: bigint | null) => {
  const operations = Array.from({ length: count }, () => Operation.changeTrust({ asset: USD }));
  const read = knowing(held === null ? {} : { lines: [[RELAYER, USD, held]] });
  return assertUnheld(read, { transaction: envelopeText(RELAYER, operations) }, RELAYER.publicKey(), policy);
};

t.test('a trust line is asked for once', async (t) => {
  await asked(1, null);
  await t.rejects(asked(2, null), { code: 'INVALID_REQUEST', message: /asked for twice/ });
  await t.rejects(asked(1, 0n), { code: 'INVALID_REQUEST', message: /has a trust line for USD:G\w+ already/ });
});
