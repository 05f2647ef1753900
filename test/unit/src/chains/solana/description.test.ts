import t from 'tap';
import { createSolanaChain } from '../../../../../src/chains/solana/index.ts';
import type { WireObject } from '../../../../../src/domain/json/json.ts';
import {
  built,
  memo,
  onWire,
  RELAYER,
  relayerAccount,
  signerOf,
  storedSolana,
} from '../../../../support/solana-relayer.ts';

const { description, parseRequest, policySchema, signMessage, transactionView } = createSolanaChain();
const account = relayerAccount();

t.test('each example is a body that is taken', async (t) => {
  const { request, signing, policies } = description;
  t.ok(policySchema.safeParse(policies).success);
  t.ok(parseRequest(request?.example, account, 0));
  t.ok(signing.transaction?.schema.safeParse(signing.transaction.example).success);
});

/** The description as JSON sends it: fields without a value are left out. */
const sent = (view: WireObject | undefined) => JSON.parse(JSON.stringify(view)) as unknown;

t.test('what is answered is as it is described', async (t) => {
  const views = [
    storedSolana({ status: 'pending', request: { transaction: built([memo('a')]) } }),
    storedSolana({
      status: 'failed',
      statusReason: 'why',
      hash: 'x',
      sentAt: 1,
      confirmedAt: 2,
      request: { instructions: [onWire(memo('a', RELAYER))] },
    }),
  ];
  for (const stored of views) {
    const parsed = description.transaction?.safeParse(sent(transactionView(stored)));
    t.strictSame(parsed?.data, sent(transactionView(stored)), 'each field, and no other');
  }
  const signed = sent(await signMessage?.({ message: 'hello' }, account, signerOf(RELAYER)));
  t.strictSame(description.signing.message?.answer.parse(signed), signed);
});
