import { z } from 'zod';
import { didYouMean } from '../domain/json/issue-text.ts';
import type { ConfigurationFindings } from './problems.ts';

/** The place of a value in the configuration. */
export interface ConfigurationPlace {
  file: string;
  path: string;
}

/**
 * Parses a value. Each fault becomes a problem at its place; then the result is undefined.
 * @param beside keys that are allowed beside those of the schema, and were removed before
 */
export function parseOrReport<T>(
  schema: z.ZodType<T>,
  value: unknown,
  at: ConfigurationPlace,
  findings: ConfigurationFindings,
  beside: readonly string[] = [],
): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) report(issue, schema, at, findings, beside);
  return undefined;
}

/**
 * Reports an unknown key. It is only a warning, because the reference ignores such keys and existing files contain
 * them. A likely misspelling of a known key is a problem, because the intended setting is missing.
 */
export function reportIgnored(
  key: string,
  known: readonly string[],
  at: ConfigurationPlace,
  findings: ConfigurationFindings,
): void {
  const path = configurationPath(at.path, [key]);
  const advice = didYouMean(key, known);
  if (advice === undefined) findings.warn(at.file, path, 'unknown key, ignored');
  else findings.problem(at.file, path, 'unknown key', advice);
}

/** Returns a path such as `relayers[0].policies`. */
export function configurationPath(base: string, steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? String(step) : `${path}.${String(step)}`;
  }, base);
}

function report(
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  at: ConfigurationPlace,
  findings: ConfigurationFindings,
  beside: readonly string[],
): void {
  const path = configurationPath(at.path, issue.path);
  if (issue.code !== 'unrecognized_keys') {
    findings.problem(at.file, path, issue.message);
    return;
  }
  const known = [...(issue.path.length === 0 ? beside : []), ...schemaKeysAt(schema, issue.path)];
  for (const key of issue.keys) {
    const advice = didYouMean(key, known) ?? (known.length > 0 ? `Known here: ${known.join(', ')}` : undefined);
    findings.problem(at.file, configurationPath(path, [key]), 'unknown key', advice);
  }
}

/** Returns the keys that a schema knows at a path. Follows objects, arrays and records only. */
export function schemaKeysAt(schema: z.ZodType, steps: readonly PropertyKey[]): string[] {
  let current: z.core.$ZodType | undefined = schema;
  for (const step of [...steps, undefined]) {
    current = unwrap(current);
    if (step === undefined) break;
    if (current instanceof z.ZodObject) current = current.shape[String(step)];
    else if (current instanceof z.ZodArray) current = current.element;
    else if (current instanceof z.ZodRecord) current = current.valueType;
    else return [];
  }
  return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
}

function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let current = schema;
  for (;;) {
    if (current instanceof z.ZodOptional || current instanceof z.ZodNullable || current instanceof z.ZodDefault) {
      current = current.unwrap();
    } else if (current instanceof z.ZodPipe) {
      // `z.preprocess` is a pipe whose first part is the transformation.
      current = current.in instanceof z.ZodTransform ? current.out : current.in;
    } else {
      return current;
    }
  }
}
