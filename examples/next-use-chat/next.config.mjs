/** @type {import('next').NextConfig} */
const config = {
  // native code stays a package of Node instead of going into the bundle
  serverExternalPackages: ['@photostructure/sqlite'],
};

export default config;
