import { TOKEN_PROGRAM, WRAPPED_SOL } from '../programs.ts';
import { associatedAccount } from '../tokens/associated.ts';

/** The relayer's account of wrapped SOL. The proceeds of a swap arrive there. */
export function wrappedAccount(relayer: string): string {
  return associatedAccount(relayer, { address: WRAPPED_SOL, program: TOKEN_PROGRAM });
}
