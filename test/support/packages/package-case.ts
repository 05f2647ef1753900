/** A package as a plugin imports it, and what is asked of it: the body of an async function whose result is compared. */
export interface PackageCase {
  name: string;
  imports: string;
  body: string;
}
