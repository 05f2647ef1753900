import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ASSOCIATED_TOKEN_PROGRAM_ID, NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { AddressLookupTableProgram, ComputeBudgetProgram, SystemProgram } from '@solana/web3.js';
import t from 'tap';
import { isAddress } from '../../../../../src/chains/solana/address.ts';
import { solana } from '../../../../../src/chains/solana/configuration/family.ts';
import { createSolanaChain } from '../../../../../src/chains/solana/index.ts';
import * as programs from '../../../../../src/chains/solana/programs.ts';
import { isReadMethod } from '../../../../../src/chains/solana/rpc-methods.ts';
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

t.test('what the chain says of itself', async (t) => {
  const chain = createSolanaChain();
  t.match(chain, { type: 'solana', curve: 'ed25519', unit: 'lamport', sequence: undefined });
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

t.test('description', async (t) => {
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
});

t.test('rpc', async (t) => {
  /** Methods that current nodes no longer have. */
  const GONE = ['getFeeCalculatorForBlockhash', 'getStakeActivation', 'getConfirmedSignaturesForAddress2'];
  const ACTING = ['sendTransaction', 'requestAirdrop'];

  t.test('of what the public client calls, all is a read but what it sends with', async (t) => {
    const client = createRequire(import.meta.url).resolve('@solana/web3.js');
    const source = await readFile(client, 'utf8');
    const called = new Set([...source.matchAll(/_rpcRequest\('(\w+)'/g)].map(([, method = '']) => method));
    t.ok(called.size > 40, `${called.size} methods`);
    for (const method of ACTING) t.ok(called.delete(method), method);
    for (const method of GONE) called.delete(method);
    t.strictSame(
      [...called].filter((method) => !isReadMethod(method)),
      [],
    );
  });

  t.test('whatever is not known may act', async (t) => {
    for (const method of [...ACTING, 'sendBundle', 'getAsset', 'simulatetransaction', '', 'toString', '__proto__']) {
      t.notOk(isReadMethod(method), method);
    }
  });
});

t.test('the built-in networks keep to what an entry may say', async (t) => {
  t.ok(solana.builtInNetworks.length > 0);
  for (const { type, network, from: _from, rpc_urls, ...settings } of solana.builtInNetworks) {
    t.equal(type, 'solana');
    t.ok(Array.isArray(rpc_urls), String(network));
    t.ok(solana.networkSchema.safeParse(settings).success, String(network));
  }
});

t.test('the programs are those that Solana’s public clients know', async (t) => {
  const { MEMO_PROGRAMS, ...others } = programs;
  t.same(others, {
    SYSTEM_PROGRAM: SystemProgram.programId.toBase58(),
    COMPUTE_BUDGET_PROGRAM: ComputeBudgetProgram.programId.toBase58(),
    TOKEN_PROGRAM: TOKEN_PROGRAM_ID.toBase58(),
    TOKEN_2022_PROGRAM: TOKEN_2022_PROGRAM_ID.toBase58(),
    ASSOCIATED_TOKEN_PROGRAM: ASSOCIATED_TOKEN_PROGRAM_ID.toBase58(),
    ADDRESS_LOOKUP_TABLE_PROGRAM: AddressLookupTableProgram.programId.toBase58(),
    WRAPPED_SOL: NATIVE_MINT.toBase58(),
  });
  t.ok(MEMO_PROGRAMS.every(isAddress));
});
