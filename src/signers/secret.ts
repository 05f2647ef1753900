import { z } from 'zod';
import type { SecretResolver } from './signer.ts';

/** A secret value of a signer's configuration; unknown keys beside the two are ignored, as the reference does. */
export const secretSchema = z.object({
  type: z
    .enum(['env', 'plain'], { error: 'a secret has the type "env" or "plain"' })
    .describe('env: value is the name of a variable; plain: value is the secret'),
  value: z
    .string()
    .min(1, 'a secret must not be empty')
    .describe('Name of the environment variable, or the secret itself'),
});

/** The value of a variable that a signer kind reads by itself; undefined when it is not set. */
export function variableIn(secrets: SecretResolver, name: string): string | undefined {
  try {
    return secrets({ type: 'env', value: name });
  } catch {
    return undefined;
  }
}
