import {
  AuthorityType,
  createApproveCheckedInstruction,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createCreateNativeMintInstruction,
  createEnableCpiGuardInstruction,
  createEnableRequiredMemoTransfersInstruction,
  createFreezeAccountInstruction,
  createHarvestWithheldTokensToMintInstruction,
  createInitializeAccount2Instruction,
  createInitializeAccount3Instruction,
  createInitializeAccountInstruction,
  createInitializeImmutableOwnerInstruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeMintInstruction,
  createInitializeMultisigInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  createMintToCheckedInstruction,
  createMintToInstruction,
  createReallocateInstruction,
  createRecoverNestedInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
  createWithdrawWithheldTokensFromAccountsInstruction,
  createWithdrawWithheldTokensFromMintInstruction,
  ExtensionType,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  Authorized,
  BPF_LOADER_PROGRAM_ID,
  Keypair,
  Lockup,
  PublicKey,
  StakeProgram,
  SystemProgram,
  TransactionInstruction,
  VoteProgram,
} from '@solana/web3.js';

/** An instruction of a family. No two of its accounts are related. */
export interface FamilyInstruction {
  name: string;
  instruction: TransactionInstruction;
}

const key = (): PublicKey => Keypair.generate().publicKey;

/** One of each instruction that moves an owner's assets, of the chain's own programs and of very common ones. */
export function familyInstructions(): FamilyInstruction[] {
  const list: FamilyInstruction[] = [];
  const add = (name: string, instruction: TransactionInstruction) => list.push({ name, instruction });
  addSystem(add);
  for (const [name, program] of [
    ['token', TOKEN_PROGRAM_ID],
    ['token-2022', TOKEN_2022_PROGRAM_ID],
  ] as const) {
    addToken((what, instruction) => add(`${name} ${what}`, instruction), program);
  }
  addExtensions(add);
  addOthers(add);
  return list;
}

type Add = (name: string, instruction: TransactionInstruction) => void;

function addSystem(add: Add): void {
  const [from, to, base, authority] = [key(), key(), key(), key()];
  const [seed, programId, lamports] = ['seed', key(), 1_000_000];
  add('system transfer', SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports }));
  add(
    'system transfer-with-seed',
    SystemProgram.transfer({ fromPubkey: from, basePubkey: base, toPubkey: to, lamports, seed, programId }),
  );
  add(
    'system create',
    SystemProgram.createAccount({ fromPubkey: from, newAccountPubkey: to, lamports, space: 8, programId }),
  );
  add(
    'system create-with-seed',
    SystemProgram.createAccountWithSeed({
      fromPubkey: from,
      newAccountPubkey: to,
      basePubkey: base,
      seed,
      lamports,
      space: 8,
      programId,
    }),
  );
  add('system assign', SystemProgram.assign({ accountPubkey: from, programId }));
  add('system assign-with-seed', SystemProgram.assign({ accountPubkey: from, basePubkey: base, seed, programId }));
  add(
    'nonce upgrade',
    new TransactionInstruction({ programId: SystemProgram.programId, keys: roles(from), data: tag32(12) }),
  );
  add('system allocate', SystemProgram.allocate({ accountPubkey: from, space: 8 }));
  add(
    'system allocate-with-seed',
    SystemProgram.allocate({ accountPubkey: from, basePubkey: base, seed, space: 8, programId }),
  );
  add('nonce advance', SystemProgram.nonceAdvance({ noncePubkey: from, authorizedPubkey: authority }));
  add(
    'nonce withdraw',
    SystemProgram.nonceWithdraw({ noncePubkey: from, authorizedPubkey: authority, toPubkey: to, lamports }),
  );
  add(
    'nonce authorize',
    SystemProgram.nonceAuthorize({ noncePubkey: from, authorizedPubkey: authority, newAuthorizedPubkey: to }),
  );
}

function addToken(add: Add, program: PublicKey): void {
  const [source, mint, destination, authority, payer] = [key(), key(), key(), key(), key()];
  add('transfer', createTransferInstruction(source, destination, authority, 7, [], program));
  add('transfer-checked', createTransferCheckedInstruction(source, mint, destination, authority, 7, 6, [], program));
  add('approve', createApproveInstruction(source, destination, authority, 7, [], program));
  add('revoke', createRevokeInstruction(source, authority, [], program));
  add(
    'set-authority',
    createSetAuthorityInstruction(source, authority, AuthorityType.AccountOwner, destination, [], program),
  );
  add('mint-to', createMintToInstruction(mint, destination, authority, 7, [], program));
  add('burn', createBurnInstruction(source, mint, authority, 7, [], program));
  add('close', createCloseAccountInstruction(source, destination, authority, [], program));
  add('freeze', createFreezeAccountInstruction(source, mint, authority, [], program));
  add('sync-native', createSyncNativeInstruction(source, program));
  add('initialize-account', createInitializeAccountInstruction(source, mint, authority, program));
  add('initialize-account-2', createInitializeAccount2Instruction(source, mint, authority, program));
  add('initialize-account-3', createInitializeAccount3Instruction(source, mint, authority, program));
  add('approve-checked', createApproveCheckedInstruction(source, mint, destination, authority, 7, 6, [], program));
  add('mint-to-checked', createMintToCheckedInstruction(mint, destination, authority, 7, 6, [], program));
  add('burn-checked', createBurnCheckedInstruction(source, mint, authority, 7, 6, [], program));
  add('thaw', createThawAccountInstruction(source, mint, authority, [], program));
  add('initialize-multisig', createInitializeMultisigInstruction(source, [authority, payer], 1, program));
  add('initialize-immutable-owner', createInitializeImmutableOwnerInstruction(source, program));
  const raw = (...data: number[]) =>
    new TransactionInstruction({
      programId: program,
      keys: roles(source, destination, authority),
      data: Buffer.from(data),
    });
  add('withdraw-excess-lamports', raw(38));
  add('unwrap-lamports', raw(45, 0));
  // Of a batch: three accounts, nine bytes, and a transfer of 7.
  add('batch', raw(255, 3, 9, 3, 7, 0, 0, 0, 0, 0, 0, 0));
  add('initialize-mint', createInitializeMintInstruction(mint, 6, authority, null, program));
  add('associated create', createAssociatedTokenAccountInstruction(payer, source, authority, mint, program));
  add(
    'associated create-idempotent',
    createAssociatedTokenAccountIdempotentInstruction(payer, source, authority, mint, program),
  );
  add(
    'associated recover-nested',
    createRecoverNestedInstruction(source, mint, destination, payer, authority, key(), program),
  );
}

/** Adds the instructions that Token-2022 has and the Token program does not. */
function addExtensions(add: Add): void {
  const [account, mint, destination, authority, payer] = [key(), key(), key(), key(), key()];
  const list: [string, TransactionInstruction][] = [
    ['transfer-with-fee', createTransferCheckedWithFeeInstruction(account, mint, destination, authority, 7n, 6, 0n)],
    ['withdraw-withheld of mint', createWithdrawWithheldTokensFromMintInstruction(mint, destination, authority)],
    [
      'withdraw-withheld',
      createWithdrawWithheldTokensFromAccountsInstruction(mint, destination, authority, [], [account]),
    ],
    ['harvest', createHarvestWithheldTokensToMintInstruction(mint, [account])],
    ['reallocate', createReallocateInstruction(account, payer, [ExtensionType.MemoTransfer], authority)],
    ['native mint', createCreateNativeMintInstruction(payer)],
    ['memo-transfers', createEnableRequiredMemoTransfersInstruction(account, authority)],
    ['cpi-guard', createEnableCpiGuardInstruction(account, authority)],
    [
      'fee-config',
      createInitializeTransferFeeConfigInstruction(mint, authority, authority, 1, 1n, TOKEN_2022_PROGRAM_ID),
    ],
    ['close-authority', createInitializeMintCloseAuthorityInstruction(mint, authority, TOKEN_2022_PROGRAM_ID)],
    ['delegate', createInitializePermanentDelegateInstruction(mint, authority, TOKEN_2022_PROGRAM_ID)],
    ['hook', createInitializeTransferHookInstruction(mint, authority, key(), TOKEN_2022_PROGRAM_ID)],
  ];
  for (const [name, instruction] of list) add(`token-2022 ${name}`, instruction);
}

const roles = (...keys: PublicKey[]) => keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true }));

function tag32(tag: number): Buffer {
  const data = Buffer.alloc(9);
  data.writeUInt32LE(tag);
  return data;
}

function addOthers(add: Add): void {
  const [stake, authority, to, split] = [key(), key(), key(), key()];
  const authorized = new Authorized(authority, authority);
  add('stake initialize', StakeProgram.initialize({ stakePubkey: stake, authorized, lockup: new Lockup(0, 0, key()) }));
  const one = (name: string, { instructions }: { instructions: TransactionInstruction[] }) => {
    for (const [index, instruction] of instructions.entries()) add(`${name} ${index + 1}`, instruction);
  };
  one('stake delegate', StakeProgram.delegate({ stakePubkey: stake, authorizedPubkey: authority, votePubkey: to }));
  one(
    'stake withdraw',
    StakeProgram.withdraw({ stakePubkey: stake, authorizedPubkey: authority, toPubkey: to, lamports: 7 }),
  );
  one(
    'stake authorize',
    StakeProgram.authorize({
      stakePubkey: stake,
      authorizedPubkey: authority,
      newAuthorizedPubkey: to,
      stakeAuthorizationType: { index: 1 },
    }),
  );
  one('stake merge', StakeProgram.merge({ stakePubkey: stake, sourceStakePubKey: split, authorizedPubkey: authority }));
  one('stake deactivate', StakeProgram.deactivate({ stakePubkey: stake, authorizedPubkey: authority }));
  one(
    'stake split',
    StakeProgram.split(
      { stakePubkey: stake, authorizedPubkey: authority, splitStakePubkey: split, lamports: 7 },
      1_000,
    ),
  );
  one(
    'vote withdraw',
    VoteProgram.withdraw({ votePubkey: stake, authorizedWithdrawerPubkey: authority, toPubkey: to, lamports: 7 }),
  );
  const [table, payer] = [key(), key()];
  add('table create', AddressLookupTableProgram.createLookupTable({ authority, payer, recentSlot: 1 })[0]);
  add(
    'table extend',
    AddressLookupTableProgram.extendLookupTable({ lookupTable: table, authority, payer, addresses: [key()] }),
  );
  add('table freeze', AddressLookupTableProgram.freezeLookupTable({ lookupTable: table, authority }));
  add('table deactivate', AddressLookupTableProgram.deactivateLookupTable({ lookupTable: table, authority }));
  add('table close', AddressLookupTableProgram.closeLookupTable({ lookupTable: table, authority, recipient: to }));
  for (const [name, programId] of [
    ['loader', BPF_LOADER_PROGRAM_ID],
    ['upgradeable loader', new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')],
    ['loader-v4', new PublicKey('LoaderV411111111111111111111111111111111111')],
    ['unknown', key()],
  ] as const) {
    const keys = roles(stake, to, authority);
    for (let tag = 0; tag < 12; tag += 1) {
      add(`${name} ${tag}`, new TransactionInstruction({ programId, keys, data: tag32(tag) }));
    }
  }
}
