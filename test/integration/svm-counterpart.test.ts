/** The promise: the tests' SVM speaks Solana's protocol. Solana's public client drives it. */
import { createPrivateKey, sign } from 'node:crypto';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  createTransferCheckedInstruction,
  getAccount,
  getAssociatedTokenAddressSync,
  getMint,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SendTransactionError,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import t from 'tap';
import { anyone, CONFIRMED, post, refusalOf, startSvmScene, transfer } from '../support/svm-scene.ts';

/** The bytes before the seed in a PKCS #8 private key, for Node. */
const PKCS8_OF_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

const scene = await startSvmScene();
t.teardown(() => scene.svm.stop());
const { svm, connection, funded, signed, land, statusOf, answerTo } = scene;

t.test('a transfer is processed, confirmed and final', async (t) => {
  const payer = await funded();
  const to = anyone();
  const signature = await connection.sendRawTransaction(await signed([payer], transfer(payer, to, 5_000_000)));
  t.equal(await statusOf(signature), null, 'no block holds it');

  await svm.tick();
  t.match(await statusOf(signature), { err: null, confirmationStatus: 'processed', confirmations: 0 });
  t.equal(await connection.getBalance(to, 'confirmed'), 0);
  t.equal(await connection.getBalance(to, 'processed'), 5_000_000);
  await svm.tick();
  t.match(await statusOf(signature), { confirmationStatus: 'confirmed', confirmations: 1 });
  t.equal(await connection.getBalance(to, 'confirmed'), 5_000_000);
  t.equal(await connection.getBalance(to, 'finalized'), 0);
  await svm.tick(2);
  t.match(await statusOf(signature), { confirmationStatus: 'finalized', confirmations: null });
  t.equal(await connection.getBalance(payer.publicKey, 'finalized'), 10 * LAMPORTS_PER_SOL - 5_005_000);

  const told = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  t.match(told?.meta, { err: null, fee: 5000, postBalances: [10 * LAMPORTS_PER_SOL - 5_005_000, 5_000_000, 1] });
  t.same(told?.transaction.signatures, [signature]);
  const parsed = await connection.getParsedTransaction(signature);
  t.equal(parsed?.transaction.message.accountKeys[0]?.signer, true);
  t.match(await connection.getSignaturesForAddress(to), [{ signature, err: null, slot: told?.slot }]);
  const block = await connection.getBlock(told?.slot ?? 0, { maxSupportedTransactionVersion: 0 });
  t.match(block, { transactions: [{ transaction: { signatures: [signature] } }] });
  t.match(await svm.landed(), [{ signature, err: null }]);
});

t.test('the same bytes twice are executed once', async (t) => {
  const payer = await funded();
  const raw = await signed([payer], transfer(payer, anyone(), 5_000_000));
  await land(raw);
  t.match(await refusalOf(connection.sendRawTransaction(raw)), 'This transaction has already been processed');
  await connection.sendRawTransaction(raw, { skipPreflight: true });
  await svm.tick(2);
  t.equal(await connection.getBalance(payer.publicKey), 10 * LAMPORTS_PER_SOL - 5_005_000);
});

t.test('a preflight that fails says why and sends nothing', async (t) => {
  const payer = await funded();
  const raw = await signed([payer], transfer(payer, anyone(), 50 * LAMPORTS_PER_SOL));
  const error = await connection.sendRawTransaction(raw).catch((caught: unknown) => caught);
  t.type(error, SendTransactionError);
  t.match(String(error), 'Error processing Instruction 0: custom program error: 0x1');
  t.match(await answerTo('sendTransaction', raw.toString('base64'), CONFIRMED), {
    error: {
      code: -32002,
      data: { err: { InstructionError: [0, { Custom: 1 }] }, logs: [/invoke/, /insufficient lamports/, /failed/] },
    },
  });
  const tiny = await signed([payer], transfer(payer, anyone(), 1));
  t.match(await answerTo('sendTransaction', tiny.toString('base64'), CONFIRMED), {
    error: {
      message: 'Transaction simulation failed: Transaction results in an account (1) with insufficient funds for rent',
      data: { err: { InsufficientFundsForRent: { account_index: 1 } } },
    },
  });
  await svm.tick();
  t.equal(await connection.getBalance(payer.publicKey, 'processed'), 10 * LAMPORTS_PER_SOL);
});

t.test('without a preflight what fails in its block has cost its fee', async (t) => {
  const payer = await funded();
  const raw = await signed([payer], transfer(payer, anyone(), 50 * LAMPORTS_PER_SOL));
  const signature = await connection.sendRawTransaction(raw, { skipPreflight: true });
  await svm.tick(2);
  t.match(await statusOf(signature), { err: { InstructionError: [0, { Custom: 1 }] } });
  t.equal(await connection.getBalance(payer.publicKey), 10 * LAMPORTS_PER_SOL - 5000);
  t.match(await connection.getTransaction(signature), { meta: { logMessages: [/./, /insufficient lamports/, /./] } });

  const unknown = new TransactionInstruction({ programId: anyone(), keys: [] });
  const second = await connection.sendRawTransaction(await signed([payer], unknown), { skipPreflight: true });
  await svm.tick(2);
  t.match(await statusOf(second), { err: 'InvalidProgramForExecution' }, 'fees are due for what cannot be loaded');
  t.equal(await connection.getBalance(payer.publicKey), 10 * LAMPORTS_PER_SOL - 10_000);

  const poor = Keypair.generate();
  const third = await signed([poor], transfer(poor, anyone(), 1));
  t.match(await refusalOf(connection.sendRawTransaction(third)), 'no record of a prior credit');
  const nowhere = await connection.sendRawTransaction(third, { skipPreflight: true });
  await svm.tick(2);
  t.equal(await statusOf(nowhere), null, 'what cannot pay is in no block');
});

t.test('a blockhash lives for 150 blocks and not one more', async (t) => {
  const payer = await funded();
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('processed');
  const [late, never] = [1, 2].map((lamports) => {
    const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight });
    transaction.add(transfer(payer, payer.publicKey, lamports)).sign(payer);
    return transaction.serialize();
  }) as [Buffer, Buffer];
  t.equal(lastValidBlockHeight - (await connection.getBlockHeight('processed')), 150);
  await svm.tick(150);
  t.equal((await connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value, true);
  const signature = await connection.sendRawTransaction(late, { preflightCommitment: 'processed' });
  await svm.tick();
  t.match(await statusOf(signature), { confirmationStatus: 'processed' });
  t.equal(await connection.getBlockHeight('processed'), lastValidBlockHeight + 1);

  t.equal((await connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value, false);
  const sent = connection.sendRawTransaction(never, { preflightCommitment: 'processed' });
  t.match(await refusalOf(sent), 'Blockhash not found');
  const lost = await connection.sendRawTransaction(never, { skipPreflight: true });
  await svm.tick(5);
  t.equal(await statusOf(lost), null);
  const message = VersionedTransaction.deserialize(never).message;
  t.equal((await connection.getFeeForMessage(message)).value, null);
});

for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
  const name = program.equals(TOKEN_PROGRAM_ID) ? 'SPL Token' : 'Token-2022';
  t.test(`tokens of ${name} move between the accounts of their owners`, async (t) => {
    const [payer, mint, to] = [await funded(), Keypair.generate(), anyone()];
    const [from, target] = [payer.publicKey, to].map((owner) =>
      getAssociatedTokenAddressSync(mint.publicKey, owner, true, program),
    ) as [PublicKey, PublicKey];
    const make = (ata: PublicKey, owner: PublicKey) =>
      createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, ata, owner, mint.publicKey, program);
    const rent = await connection.getMinimumBalanceForRentExemption(MINT_SIZE);
    const head = { fromPubkey: payer.publicKey, newAccountPubkey: mint.publicKey, programId: program };
    await land(
      await signed(
        [payer, mint],
        SystemProgram.createAccount({ ...head, space: MINT_SIZE, lamports: rent }),
        createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null, program),
        make(from, payer.publicKey),
        createMintToInstruction(mint.publicKey, from, payer.publicKey, 9_000_000n, [], program),
      ),
    );
    const signature = await land(
      await signed(
        [payer],
        make(target, to),
        createTransferCheckedInstruction(from, mint.publicKey, target, payer.publicKey, 1_500_000n, 6, [], program),
      ),
    );
    t.equal((await getAccount(connection, target, 'confirmed', program)).amount, 1_500_000n);
    t.equal((await getMint(connection, mint.publicKey, 'confirmed', program)).supply, 9_000_000n);
    t.match((await connection.getTokenAccountBalance(target)).value, { amount: '1500000', uiAmountString: '1.5' });
    t.match((await connection.getTokenSupply(mint.publicKey)).value, { amount: '9000000', decimals: 6 });
    const owned = await connection.getParsedTokenAccountsByOwner(to, { mint: mint.publicKey });
    t.match(owned.value, [{ pubkey: target, account: { data: { parsed: { info: { owner: to.toBase58() } } } } }]);
    const filter = { memcmp: { offset: 0, bytes: mint.publicKey.toBase58() } };
    t.equal((await connection.getProgramAccounts(program, { filters: [filter] })).length, 2);
    const told = await connection.getTransaction(signature);
    const amounts = told?.meta?.postTokenBalances?.map(({ uiTokenAmount }) => uiTokenAmount.amount);
    t.same(amounts?.toSorted(), ['1500000', '7500000']);
    t.ok((told?.meta?.innerInstructions?.[0]?.instructions.length ?? 0) > 0, 'the account was made by inner calls');
  });
}

t.test('version 0 loads accounts from a lookup table', async (t) => {
  const [payer, to] = [await funded(), anyone()];
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot: await connection.getSlot('processed'),
  });
  const extend = { payer: payer.publicKey, authority: payer.publicKey, lookupTable: table, addresses: [to] };
  await land(await signed([payer], create, AddressLookupTableProgram.extendLookupTable(extend)));
  const { value } = await connection.getAddressLookupTable(table);
  t.same(value?.state.addresses.map(String), [to.toBase58()]);
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const instructions = [transfer(payer, to, 5_000_000)];
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message(value === null ? [] : [value]));
  transaction.sign([payer]);
  const signature = await land(transaction.serialize());
  t.equal(await connection.getBalance(to), 5_000_000);
  const told = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  t.same(told?.meta?.loadedAddresses?.writable.map(String), [to.toBase58()]);
  t.match(await answerTo('getTransaction', signature, { commitment: 'confirmed' }), { error: { code: -32015 } });
});

/** A transfer in the format of SIMD-0385. No npm client can write it yet. */
async function versionOne(payer: Keypair, to: PublicKey, lamports: number, priorityFee: bigint): Promise<Buffer> {
  const { blockhash } = await connection.getLatestBlockhash();
  const instruction = transfer(payer, to, lamports);
  const keys = [payer.publicKey, to, SystemProgram.programId].map((key) => key.toBuffer());
  const settings = Buffer.alloc(16);
  settings.writeBigUInt64LE(priorityFee);
  settings.writeUInt32LE(10_000, 8);
  settings.writeUInt32LE(65_536, 12);
  const message = Buffer.concat([
    Buffer.from([0x81, 1, 0, 1, 0b1111, 0, 0, 0]),
    new PublicKey(blockhash).toBuffer(),
    Buffer.from([1, keys.length]),
    ...keys,
    settings,
    Buffer.from([2, 2, instruction.data.length, 0, 0, 1]),
    instruction.data,
  ]);
  const key = {
    key: Buffer.concat([PKCS8_OF_ED25519, payer.secretKey.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  } as const;
  return Buffer.concat([message, sign(null, message, createPrivateKey(key))]);
}

t.test('version 1 carries its fee in the message', async (t) => {
  const [payer, to] = [await funded(), anyone()];
  const raw = await versionOne(payer, to, 5_000_000, 777n);
  const signature = await land(raw);
  t.equal(await connection.getBalance(to), 5_000_000);
  t.equal(await connection.getBalance(payer.publicKey), 10 * LAMPORTS_PER_SOL - 5_000_000 - 5777);
  const told = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 1 });
  t.match(told, { version: 1, meta: { fee: 5777 } });
});

t.test('a durable nonce outlives blockhashes and is good for one transaction, well or not', async (t) => {
  const [payer, nonce] = [await funded(), Keypair.generate()];
  const account = { noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey };
  const lamports = await connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH);
  const create = SystemProgram.createNonceAccount({ ...account, fromPubkey: payer.publicKey, lamports });
  await land(await signed([payer, nonce], ...create.instructions));
  const stored = async () => {
    const info = await connection.getAccountInfo(nonce.publicKey, 'processed');
    return NonceAccount.fromAccountData(info?.data ?? Buffer.alloc(0)).nonce;
  };
  const withNonce = (value: string, sol: number) => {
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      nonceInfo: { nonce: value, nonceInstruction: SystemProgram.nonceAdvance(account) },
      minContextSlot: 0,
    });
    transaction.add(transfer(payer, anyone(), sol * LAMPORTS_PER_SOL)).sign(payer);
    return transaction.serialize();
  };
  const first = await stored();
  const raw = withNonce(first, 1);
  await svm.expireBlockhashes();
  t.match(await statusOf(await land(raw)), { err: null });
  const second = await stored();
  t.not(second, first);
  t.match(await refusalOf(connection.sendRawTransaction(withNonce(first, 2))), 'Blockhash not found');

  const signature = await connection.sendRawTransaction(withNonce(second, 50), { skipPreflight: true });
  await svm.tick(2);
  t.match(await statusOf(signature), { err: { InstructionError: [1, { Custom: 1 }] } });
  const third = await stored();
  t.not(third, second);

  const rivals = [withNonce(third, 1), withNonce(third, 2)];
  const signatures: string[] = [];
  for (const rival of rivals) signatures.push(await connection.sendRawTransaction(rival));
  await svm.tick(2);
  const statuses = await Promise.all(signatures.map(statusOf));
  t.match(statuses, [{ err: null }, null], 'one block takes one of two with the same value');
});

t.test('a simulation shows what would be', async (t) => {
  const [payer, to] = [await funded(), anyone()];
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: anyone().toBase58() });
  transaction.add(ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000 }));
  transaction.add(ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 }), transfer(payer, to, 5_000_000));
  const raw = transaction.serialize({ requireAllSignatures: false }).toString('base64');
  const asked = { encoding: 'base64', replaceRecentBlockhash: true, commitment: 'confirmed' };
  const accounts = { encoding: 'base64', addresses: [to.toBase58(), payer.publicKey.toBase58()] };
  t.match(await answerTo('simulateTransaction', raw, { ...asked, accounts, innerInstructions: true }), {
    result: {
      value: {
        err: null,
        unitsConsumed: 450,
        accounts: [{ lamports: 5_000_000 }, { lamports: 10 * LAMPORTS_PER_SOL - 5_000_000 - 5000 - 10_000 }],
        innerInstructions: [],
        replacementBlockhash: { lastValidBlockHeight: Number },
      },
    },
  });
  t.match(await answerTo('simulateTransaction', raw, { encoding: 'base64' }), {
    result: { value: { err: 'BlockhashNotFound', logs: [] } },
  });
  const verified = await answerTo('simulateTransaction', raw, { encoding: 'base64', sigVerify: true });
  t.match(verified, { error: { code: -32003, message: 'Transaction signature verification failure' } });
  transaction.recentBlockhash = (await connection.getLatestBlockhash()).blockhash;
  t.equal((await connection.getFeeForMessage(transaction.compileMessage())).value, 15_000);
});

t.test('what a node refuses', async (t) => {
  const payer = await funded();
  const raw = await signed([payer], transfer(payer, anyone(), 1));
  const base64 = (bytes: Uint8Array) => [Buffer.from(bytes).toString('base64'), { encoding: 'base64' }];
  const broken = Buffer.from(raw);
  broken.writeUInt8(broken.readUInt8(5) ^ 1, 5);
  const unsigned = Buffer.concat([Buffer.from([0]), raw.subarray(65)]);
  const slot = await connection.getSlot('confirmed');
  const cases: [code: number, message: string, method: string, ...params: unknown[]][] = [
    [-32003, 'Transaction signature verification failure', 'sendTransaction', ...base64(broken)],
    [-32602, 'failed to deserialize', 'sendTransaction', ...base64(raw.subarray(0, 90))],
    [-32602, 'failed to sanitize', 'sendTransaction', ...base64(unsigned)],
    [-32602, 'too large: 1736 bytes (max: encoded/raw 1644/1232)', 'sendTransaction', ...base64(Buffer.alloc(1300))],
    [-32602, 'invalid base64 encoding', 'sendTransaction', '!', { encoding: 'base64' }],
    [-32602, '`params` should have at least 1 argument(s)', 'getBalance'],
    [-32602, 'Invalid param: WrongSize', 'getBalance', 'abc'],
    [-32602, 'Invalid param: Invalid', 'getBalance', '0OIl'],
    [-32602, 'unknown variant `soon`', 'getBalance', payer.publicKey.toBase58(), { commitment: 'soon' }],
    [-32016, 'Minimum context slot', 'getBalance', payer.publicKey.toBase58(), { minContextSlot: slot + 9 }],
    [-32602, 'could not find account', 'getTokenAccountBalance', anyone().toBase58()],
    [-32602, 'not a Token account', 'getTokenAccountBalance', payer.publicKey.toBase58()],
    [-32602, 'below `confirmed`', 'getTransaction', anySignature(), { commitment: 'processed' }],
    [-32004, 'Block not available', 'getBlock', slot + 9],
    [-32601, 'Method not found', 'getWeather'],
  ];
  for (const [code, message, method, ...params] of cases) {
    const { error } = await answerTo(method, ...params);
    t.match(error, { code, message: String }, `${method} ${message}`);
    t.ok((error as { message: string }).message.includes(message), (error as { message: string }).message);
  }
  await svm.skipSlots(1);
  await svm.tick(4);
  const skipped = (await connection.getSlot('processed')) - 4;
  t.match(await answerTo('getBlock', skipped, { commitment: 'confirmed' }), { error: { code: -32007 } });
  t.notOk((await connection.getBlocks(skipped - 1, skipped + 1)).includes(skipped));
});

const anySignature = () => '1'.repeat(64);

t.test('calls in one array are answered in their order', async (t) => {
  const calls = ['getSlot', 'getWeather', 'getHealth'].map((method, id) => ({ jsonrpc: '2.0', id, method }));
  const response = await post(svm.url, calls);
  t.match(await response.json(), [
    { id: 0, result: Number },
    { id: 1, error: { code: -32601 } },
    { id: 2, result: 'ok' },
  ]);
});

t.test('a body that is too large or of another type is no call', async (t) => {
  t.equal((await post(svm.url, 'x'.repeat(50 * 1024))).status, 413);
  t.equal((await fetch(svm.url, { method: 'POST', body: '{}' })).status, 415);
});

t.test('the faucet pays by a transaction', async (t) => {
  const to = anyone();
  const signature = await connection.requestAirdrop(to, 3_000_000_000);
  await svm.tick(2);
  t.match(await statusOf(signature), { err: null });
  t.equal(await connection.getBalance(to), 3_000_000_000);
});
