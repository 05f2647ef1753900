import { ExtensionType, getMintLen } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { unknownAllowed } from '../../../../../../src/chains/solana/guard/known.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { keyOf, type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { relayerAccount } from '../../../../../support/solana-relayer.ts';
import { mintAccount } from '../../../../../support/token-accounts.ts';

const [MINT, GONE] = [keyOf(41), keyOf(99)];

async function faults(t: Test, policies: Parameters<typeof relayerAccount>[0], ...nodes: NodeWorld[]) {
  const { rpc } = await openSolana(t, ...nodes);
  return unknownAllowed(rpc, relayerAccount(policies));
}

t.test('what the policies allow has to be there, and the words say what to do', async (t) => {
  const world = { accounts: { [MINT]: mintAccount(6), [TOKEN_PROGRAM]: { owner: keyOf(2), data: Buffer.alloc(0) } } };
  t.strictSame(await faults(t, { allowed_tokens: [{ mint: MINT }] }, world), []);
  t.strictSame(await faults(t, {}, world), []);
  const wrong = { allowed_programs: [GONE, TOKEN_PROGRAM], allowed_tokens: [{ mint: GONE }, { mint: MINT }] };
  t.strictSame(await faults(t, wrong, world), [
    `allowed_programs: ${GONE} is not on this network; correct it, or take it out`,
    `allowed_programs: ${TOKEN_PROGRAM} is an account and no program; correct it, or take it out`,
    `allowed_tokens: ${GONE} is not a token on this network; correct it, or take it out`,
  ]);
});

t.test('whoever may move and burn everybody’s tokens is warned of, and accepted', async (t) => {
  const data = Buffer.alloc(getMintLen([ExtensionType.PermanentDelegate]));
  mintAccount(6).data.copy(data);
  data.writeUInt8(1, 165);
  data.writeUInt16LE(ExtensionType.PermanentDelegate, 166);
  data.writeUInt16LE(32, 168);
  new PublicKey(GONE).toBuffer().copy(data, 170);
  const { rpc } = await openSolana(t, { accounts: { [MINT]: { owner: TOKEN_2022_PROGRAM, data } } });
  const risks: string[] = [];
  const account = relayerAccount({ allowed_tokens: [{ mint: MINT }] });
  t.strictSame(await unknownAllowed(rpc, account, (risk) => risks.push(risk)), []);
  t.match(risks, [new RegExp(`^allowed_tokens: ${GONE} may move and burn everybody's tokens of ${MINT}`)]);
});

t.test('what one endpoint does not have and another one has is there', async (t) => {
  const policies = { allowed_tokens: [{ mint: MINT }] };
  t.strictSame(await faults(t, policies, {}, { accounts: { [MINT]: mintAccount(6) } }), []);
  t.equal((await faults(t, policies, {}, {})).length, 1);
});
