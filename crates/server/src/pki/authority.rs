//! [`Authority`]: signs the certificates of one server and its admin.

use jiff::civil::Date;
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

use super::{Names, Pair, PkiError};
use crate::auth::ADMIN;

/// The authority's life: longer than anybody keeps a data directory.
const CA_DAYS: i32 = 3650;
/// A certificate's life: some clients refuse more than 825 days.
const LEAF_DAYS: i32 = 730;

/// Signs. Made of its own [`Pair`].
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new authority of a name of its own, so that two of them are never mistaken.
    pub fn create(now: Timestamp) -> Result<Pair, PkiError> {
        let key = KeyPair::generate()?;
        let mut params = params(now, CA_DAYS);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let name = format!("masthead-ca {}", now.as_second());
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key)?;
        Ok(Pair {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    /// The authority whose certificate and key these are.
    pub fn open(pair: &Pair) -> Result<Self, rcgen::Error> {
        let key = KeyPair::from_pem(&pair.key)?;
        Ok(Self {
            issuer: Issuer::from_ca_cert_pem(&pair.certificate, key)?,
        })
    }

    /// A server's certificate for `names`.
    pub fn server(&self, names: &Names, now: Timestamp) -> Result<Pair, PkiError> {
        let mut params = params(now, LEAF_DAYS);
        params
            .distinguished_name
            .push(DnType::CommonName, "masthead");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        for name in &names.dns {
            params
                .subject_alt_names
                .push(SanType::DnsName(name.as_str().try_into()?));
        }
        params
            .subject_alt_names
            .extend(names.ips.iter().copied().map(SanType::IpAddress));
        self.sign(params)
    }

    /// The admin's certificate.
    pub fn admin(&self, now: Timestamp) -> Result<Pair, PkiError> {
        let mut params = params(now, LEAF_DAYS);
        params
            .distinguished_name
            .push(DnType::OrganizationName, "system:masters");
        params.distinguished_name.push(DnType::CommonName, ADMIN);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Pair, PkiError> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Pair {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// Valid from yesterday, for clients whose clocks are behind, for `days` days.
fn params(now: Timestamp, days: i32) -> CertificateParams {
    let midnight = |date: Date| {
        let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
        rcgen::date_time_ymd(i32::from(date.year()), month, day)
    };
    let today = Offset::UTC.to_datetime(now).date();
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.not_before = midnight(today.saturating_sub(1.day()));
    params.not_after = midnight(today.saturating_add(days.days()));
    params
}
