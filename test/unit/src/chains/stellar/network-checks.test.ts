import t from 'tap';
import { readPolicy } from '../../../../../src/chains/stellar/configuration/policy.ts';
import { assertTimely } from '../../../../../src/chains/stellar/network-checks.ts';
import { CLIENT, type EnvelopeHow, envelopeText, OTHER, payOp } from '../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../support/stellar-ledger.ts';
import { PASSPHRASE } from '../../../../support/stellar-relayer.ts';

t.test('bump', async (t) => {
  /** A node where the client's last used sequence is 7 and the ledger time is 900 s. */
  const read = knowing({ accounts: [[CLIENT, 1_000n]] });

  function timely(policies: object, how: EnvelopeHow = {}) {
    const inner = envelopeText(CLIENT, [payOp('1')], how);
    const policy = readPolicy({ fee_payment_strategy: 'relayer', ...policies });
    return assertTimely(read, { inner, max_fee: 400 }, PASSPHRASE, policy);
  }

  const refused = (message: RegExp) => ({ code: 'INVALID_REQUEST', message });

  t.test('an end within the policy’s time', async (t) => {
    const strict = { timeout_seconds: 60 };
    await timely({});
    await timely({}, { maxTime: 0 });
    await timely(strict, { maxTime: 960 });
    await t.rejects(timely(strict), refused(/must end within 60 s, at 960/));
    await t.rejects(timely(strict, { maxTime: 0 }), refused(/must end within 60 s/));
    await t.rejects(timely({}, { maxTime: 800 }), refused(/ended at 800, and it is 900 on the chain/));
    const users = { fee_payment_strategy: 'user' };
    await timely(users, { maxTime: 1_020 });
    await t.rejects(timely(users), refused(/must end within 120 s/));
  });

  t.test('a user’s sequence is soon its turn', async (t) => {
    const users = { fee_payment_strategy: 'user' };
    const at = (sequence: string) => ({ maxTime: 1_000, sequence });
    await timely(users, at('8'));
    await timely(users, at('12'));
    await t.rejects(timely(users, at('13')), refused(/sequence 13 is not the next of G\w+, 8/));
    await t.rejects(timely(users, at('7')), refused(/sequence 7 is not the next/));
    await timely({}, at('99'));
  });

  t.test('signatures that are enough', async (t) => {
    await t.rejects(timely({}, { signers: [OTHER] }), refused(/signatures of G\w+ weigh 0, and 1 is needed/));
  });
});
