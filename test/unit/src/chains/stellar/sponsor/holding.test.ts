import { Asset, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { assertUnheld, heldFault } from '../../../../../../src/chains/stellar/sponsor/holding.ts';
import { envelopeText, OTHER } from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const USD = new Asset('USD', OTHER.publicKey());
const account = relayerAccount({
  fee_payment_strategy: 'user',
  allowed_tokens: [{ asset: `USD:${OTHER.publicKey()}` }],
});
const transaction = (count: number) =>
  envelopeText(
    RELAYER,
    Array.from({ length: count }, () => Operation.changeTrust({ asset: USD })),
  );
const asked = (count: number, held: bigint | null) => {
  const read = knowing(held === null ? {} : { lines: [[RELAYER, USD, held]] });
  return assertUnheld(read, { transaction: transaction(count) }, account);
};

t.test('a trust line is asked for once', async (t) => {
  await asked(1, null);
  await t.rejects(asked(2, null), { code: 'INVALID_REQUEST', message: /asked for twice/ });
  await t.rejects(asked(1, 0n), { code: 'INVALID_REQUEST', message: /has a trust line for USD:G\w+ already/ });
});

t.test('a relayer that pays itself may ask for it again', async (t) => {
  const read = knowing({ lines: [[RELAYER, USD, 0n]] });
  t.equal(await heldFault(read, { transaction: transaction(2) }, relayerAccount()), undefined);
});
