import { ACCOUNT_SIZE, createTransferCheckedInstruction, createTransferInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { tokenFault } from '../../../../../../src/chains/solana/guard/tokens.ts';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import { TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { keyOf, type NodeAccount, openSolana } from '../../../../../support/solana-node.ts';
import { built, memo } from '../../../../../support/solana-relayer.ts';

const [SOURCE, DESTINATION, AUTHORITY, ALLOWED, OTHER] = [1, 2, 3, 4, 5].map(keyOf) as [
  string,
  string,
  string,
  string,
  string,
];
const at = (key: string) => new PublicKey(key);

/** A token account that holds this mint. */
function holding(mint: string): NodeAccount {
  const data = Buffer.alloc(ACCOUNT_SIZE);
  at(mint).toBuffer().copy(data, 0);
  data[108] = 1;
  return { owner: TOKEN_PROGRAM, data };
}

const plain = (source: string) => createTransferInstruction(at(source), at(DESTINATION), at(AUTHORITY), 5n);
const checked = (mint: string) =>
  createTransferCheckedInstruction(at(SOURCE), at(mint), at(DESTINATION), at(AUTHORITY), 5n, 6);

/** The fault found in the instructions. By default the policies allow only one token. */
async function faultOf(
  t: Test,
  instructions: TransactionInstruction[],
  accounts: Record<string, NodeAccount> = {},
  policies: object = { allowed_tokens: [{ mint: ALLOWED }] },
) {
  const { rpc, asked } = await openSolana(t, { accounts });
  const { message } = decodeTransaction(built(instructions));
  const policy = readPolicy({ ...policies });
  const fault = await rpc.onOne((read) => tokenFault(read, message, message.keys, policy));
  return { fault, asked: asked('getMultipleAccounts') };
}

t.test('only allowed tokens move, in the reference’s words', async (t) => {
  t.match(await faultOf(t, [checked(ALLOWED)]), { fault: undefined, asked: 0 });
  t.match(await faultOf(t, [checked(ALLOWED), checked(OTHER)]), {
    fault: `Policy violation: Token ${OTHER} not allowed for transfers`,
  });
  t.match(await faultOf(t, [memo('none')]), { fault: undefined, asked: 0 });
});

t.test('where a transfer does not name its token, its source tells, asked for once', async (t) => {
  const accounts = { [SOURCE]: holding(ALLOWED), [DESTINATION]: holding(OTHER) };
  t.match(await faultOf(t, [plain(SOURCE), plain(SOURCE)], accounts), { fault: undefined, asked: 1 });
  t.match(await faultOf(t, [plain(SOURCE)], { [SOURCE]: holding(OTHER) }), {
    fault: `Policy violation: Token ${OTHER} not allowed for transfers`,
  });
  const none = `Policy violation: ${SOURCE} is not a token account`;
  t.match(await faultOf(t, [plain(SOURCE)]), { fault: none });
  t.match(await faultOf(t, [plain(SOURCE)], { [SOURCE]: { owner: keyOf(6), data: holding(ALLOWED).data } }), {
    fault: none,
  });
});

t.test('no list, and an empty one, allow all and ask nobody', async (t) => {
  for (const policies of [{}, { allowed_tokens: [] }]) {
    t.match(await faultOf(t, [checked(OTHER), plain(SOURCE)], {}, policies), { fault: undefined, asked: 0 });
  }
});
