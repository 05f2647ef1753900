import { z } from 'zod';
import { configurationPath } from './check.ts';
import type { ConfigurationFindings } from './problems.ts';

/** A secret of the configuration: the name of an environment variable, or the secret itself. */
export const configurationSecretSchema = z.object({
  type: z.enum(['env', 'plain']).describe('env: value is the name of a variable; plain: value is the secret'),
  value: z.string().min(1, 'must not be empty').describe('Name of the environment variable, or the secret itself'),
});

export type ConfigurationSecret = z.infer<typeof configurationSecretSchema>;

/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns a function that resolves secrets. It throws an error with the variable's name when the variable is missing or
 * empty.
 */
export function createSecretResolver(variables: Variables): (secret: ConfigurationSecret) => string {
  return ({ type, value }) => {
    if (type === 'plain') return value;
    const resolved = variables[value];
    if (resolved === undefined || resolved === '')
      throw new Error(`the environment variable ${shownName(value)} is not set`);
    return resolved;
  };
}

/** Returns a variable's name for an error. Hides it when it may be the secret itself, put in place of the name. */
function shownName(name: string): string {
  const isName = /^[A-Za-z_]\w*$/.test(name) && (name.length < 32 || /^[A-Z\d]+_[A-Z\d_]+$/.test(name));
  return isName ? name : '(not shown: it does not look like a name)';
}

/**
 * Finds every `{ "type": "env", "value": "NAME" }` in a part of the configuration, and reports each missing variable.
 * So a missing secret is found at the start and not at its first use. Returns the names.
 */
export function checkSecrets(
  part: unknown,
  at: { file: string; path: string },
  variables: Variables,
  findings: ConfigurationFindings,
): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const secret = z.object({ type: z.literal('env'), value: z.string().min(1) }).safeParse(part);
  if (secret.success) {
    const name = secret.data.value;
    if ((variables[name] ?? '') === '') {
      findings.problem(
        at.file,
        at.path,
        `the environment variable ${shownName(name)} is not set`,
        shownName(name) === name
          ? `Set ${name}, in .env for instance`
          : 'With the type env the value is the name of a variable; put the secret into that variable',
      );
    }
    return [name];
  }
  return Object.entries(part).flatMap(([key, inner]) => {
    const step = Array.isArray(part) ? Number(key) : key;
    return checkSecrets(inner, { file: at.file, path: configurationPath(at.path, [step]) }, variables, findings);
  });
}
