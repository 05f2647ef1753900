import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createSolanaChain } from '../../../../../src/chains/solana/index.ts';

t.test('what the chain says of itself', async (t) => {
  const chain = createSolanaChain();
  t.match(chain, { type: 'solana', curve: 'ed25519', unit: 'lamport', counter: undefined });
  t.strictSame(chain.pace.anchors, { none: 512, text: 1_000 });
  t.equal(chain.minimumBalance({ min_balance: 5 }), 5n);
  t.equal(chain.minimumBalance({}), 10_000_000n);
});

t.test('the built-in networks', async (t) => {
  const chain = createSolanaChain();
  t.strictSame(
    chain.builtInNetworks.map(({ network, rpc_urls: urls }) => [network, urls]),
    [
      ['mainnet-beta', ['https://api.mainnet-beta.solana.com']],
      ['testnet', ['https://api.testnet.solana.com']],
      ['devnet', ['https://api.devnet.solana.com']],
      ['localnet', ['http://localhost:8899']],
    ],
  );
  for (const { type, network, rpc_urls: _, ...settings } of chain.builtInNetworks) {
    t.equal(type, 'solana');
    t.match(chain.networkSchema.parse(settings), { is_testnet: network !== 'mainnet-beta', average_blocktime_ms: 400 });
  }
});

t.test('typed data are not signed, which it says in the words that clients know', async (t) => {
  const chain = createSolanaChain();
  t.equal(chain.signTypedData, undefined);
  t.strictSame(chain.description.refusals, { typedData: 'Endpoint is not supported for Solana relayers' });
});

t.test('of the public client only its formats are used, and nothing that reaches a network', async (t) => {
  const folder = join(import.meta.dirname, '../../../../../src/chains/solana');
  const files = globSync('**/*.ts', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
  const imports = files.flatMap((text) => [...text.matchAll(/import ([^;]*?) from '@solana\/web3\.js'/g)]);
  const names = imports.flatMap(([, list = '']) => list.replaceAll(/[{}]|\btype\b/g, '').split(','));
  t.strictSame([...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].toSorted(), [
    ...['AddressLookupTableAccount', 'AddressLookupTableProgram', 'ComputeBudgetProgram', 'Ed25519Program'],
    ...['MessageCompiledInstruction', 'MessageV0', 'NONCE_ACCOUNT_LENGTH', 'NonceAccount', 'PublicKey'],
    ...['Secp256k1Program', 'StakeProgram', 'SystemProgram', 'TransactionInstruction', 'TransactionMessage'],
  ]);
});
